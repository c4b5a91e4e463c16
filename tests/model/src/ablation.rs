//! What the protocol is without one of its parts: which rule breaks then, as data.

use store::Fence;

/// A part of the protocol that is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A fence of the storage.
    Fence(Fence),
    /// The check whether what was read is whole.
    CheckOfReads,
    /// The sequence of an owner's stack, which tells what was overtaken.
    Sequence,
    /// A submitter's look for what it has written already.
    OwnMark,
}
