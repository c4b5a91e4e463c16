//! The outcome of planning.

use dovetail_http::Code;

/// A plan, or a part of one.
pub(crate) enum Planning<T> {
    Ready(T),
    /// Another attempt may succeed. After the last attempt, this code is the reply.
    Replan(Code),
}

impl<T> Planning<T> {
    /// Returns the plan, or stores the code for the reply.
    pub(crate) fn ready(self, refusal: &mut Code) -> Option<T> {
        match self {
            Self::Ready(plan) => Some(plan),
            Self::Replan(why) => {
                *refusal = why;
                None
            }
        }
    }
}
