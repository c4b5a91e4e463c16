//! The end of a command by Ctrl-C.

use console::Term;
use std::process;

/// The exit code of an interrupted command.
pub(crate) const INTERRUPTED: u8 = 130;

/// Ends the process with exit code 130 at Ctrl-C.
///
/// The default ends it by a signal. Then the first process of a container would go on.
pub(crate) fn end_at_interrupts() {
    let end = || {
        let terminal = Term::stderr();
        if terminal.is_term() {
            // A question hides the cursor.
            drop(terminal.show_cursor());
        }
        process::exit(INTERRUPTED.into());
    };
    // Without a handler, the default of the system remains.
    drop(ctrlc::set_handler(end));
}
