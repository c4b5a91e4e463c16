//! Replays the corpus. It contains earlier findings, and inputs for all code that fuzzing has reached.
#![expect(clippy::unwrap_used, reason = "test support")]

use fuzz::{TARGETS, Target};
use std::fs;
use std::path::{Path, PathBuf};

fn assert_keeps(target: &Target, input: &[u8], file: &Path) {
    let result = std::panic::catch_unwind(|| (target.run)(input));
    let (bytes, file) = (input.len(), file.display());
    assert!(result.is_ok(), "{} keeps its promise on {bytes} bytes of {file}", target.name);
}

fn corpus(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_input_of_the_corpus_keeps_what_is_promised() {
    for target in TARGETS {
        let files = corpus(target.name);
        assert!(files.len() >= 5, "{} has {} inputs", target.name, files.len());
        for file in files {
            assert_keeps(target, &fs::read(&file).unwrap(), &file);
        }
    }
}

#[test]
fn the_corpus_stays_small_and_has_no_folder_without_a_target() {
    let mut folders: Vec<String> =
        corpus("").iter().map(|folder| folder.file_name().unwrap().to_string_lossy().into_owned()).collect();
    folders.sort();
    assert_eq!(folders, TARGETS.iter().map(|target| target.name).collect::<Vec<_>>());
    let files: Vec<PathBuf> = TARGETS.iter().flat_map(|target| corpus(target.name)).collect();
    let bytes: u64 = files.iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert!(files.len() <= 250 && bytes <= 300_000, "{} files, {bytes} bytes", files.len());
}

#[test]
fn every_input_up_to_a_length_with_pieces_taken_away_keeps_what_is_promised() {
    for target in TARGETS {
        for file in corpus(target.name) {
            let bytes = fs::read(&file).unwrap();
            // Sixteen cuts of each input keep the run short.
            let step = bytes.len().div_ceil(16).max(1);
            for at in (0..bytes.len()).step_by(step) {
                let cut_out = [&bytes[..at], &bytes[(at + step).min(bytes.len())..]].concat();
                for input in [&bytes[..at], &bytes[at..], &cut_out] {
                    assert_keeps(target, input, &file);
                }
            }
        }
    }
}
