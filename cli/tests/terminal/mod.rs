//! The program in a terminal of its own.
#![allow(dead_code, clippy::allow_attributes, reason = "each test uses what it needs")]

use pty_process::Size;
use pty_process::blocking::{Command as TerminalCommand, Pty, open};
use std::io::{ErrorKind, Read as _, Write as _};
use std::process::{Child, Command};

/// Number of lines of the terminal.
const LINES: u16 = 24;
/// Variables with an influence on colours and widths.
const VARIABLES: [&str; 6] = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "LINES"];

/// A process in a terminal, and all text that it has printed there.
pub(crate) struct Terminal {
    pty: Pty,
    child: Child,
    printed: Vec<u8>,
}

impl Terminal {
    /// Runs a command in a terminal with this number of columns.
    pub(crate) fn start(command: &Command, columns: u16) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(LINES, columns)).unwrap();
        // The echo of an answer could come before the question or after it.
        let mut settings = rustix::termios::tcgetattr(&pty).unwrap();
        settings.local_modes.remove(rustix::termios::LocalModes::ECHO);
        rustix::termios::tcsetattr(&pty, rustix::termios::OptionalActions::Now, &settings).unwrap();
        let mut inside = TerminalCommand::new(command.get_program()).args(command.get_args());
        for variable in VARIABLES {
            inside = inside.env_remove(variable);
        }
        inside = inside.env("TERM", "xterm-256color").current_dir(command.get_current_dir().unwrap());
        for (name, value) in command.get_envs() {
            inside = match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        let child = inside.spawn(pts).unwrap();
        Self { pty, child, printed: Vec::new() }
    }

    /// Types a text.
    pub(crate) fn types(&mut self, text: &str) {
        self.pty.write_all(text.as_bytes()).unwrap();
    }

    /// Reads until the program has printed this text.
    pub(crate) fn reads_until(&mut self, part: &str) {
        while !self.text().contains(part) {
            assert!(self.reads(), "the program ended before `{part}`: {}", self.text());
        }
    }

    /// Reads until the program ends. Returns its exit code and everything that it printed.
    pub(crate) fn finish(mut self) -> (i32, String) {
        while self.reads() {}
        let code = self.child.wait().unwrap().code().unwrap();
        (code, self.text())
    }

    /// Returns the printed text. An escape is `\e`, and a return to the start of the line `\r`.
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.printed)
            .replace("\r\n", "\n")
            .replace('\r', "\\r")
            .replace('\u{1b}', "\\e")
    }

    /// Reads what is there, or waits for it. Returns whether the terminal is still open.
    fn reads(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.pty.read(&mut bytes) {
            Ok(0) => false,
            Ok(read) => {
                self.printed.extend_from_slice(&bytes[..read]);
                true
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => true,
            // Linux reports the end of the last process in a terminal as an error.
            Err(_) => false,
        }
    }
}
