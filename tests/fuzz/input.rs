//! Splits an input into the values of a target. After its end all bytes are zero, so every input is valid.

/// The unread rest of an input.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn number(&mut self) -> u64 {
        u64::from_le_bytes([(); 8].map(|()| self.byte()))
    }

    /// Reads a length and a text, with replacements of invalid UTF-8.
    pub(crate) fn text(&mut self) -> String {
        let length = usize::from(self.byte()).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the bytes before and after the first NUL. No JSON text contains a NUL.
    pub(crate) fn halves(bytes: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let end = bytes.iter().position(|byte| *byte == 0);
        end.map_or((bytes, &[]), |end| (&bytes[..end], &bytes[end + 1..]))
    }
}
