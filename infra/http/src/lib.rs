//! The HTTP side of the functions: routes, calls, replies, the error table and the objects of the API.
//!
//! A handler receives a [`Call`] and returns a [`Reply`]. It never sees an event of API Gateway.

mod authorizer;
mod call;
mod caller;
mod code;
mod cursor;
mod event;
mod field;
mod fields;
mod gzip;
mod happened;
mod invalid;
mod multipart;
mod program;
mod query;
mod reply;
mod route;
mod secret;
mod told;
mod unknown;
pub mod view;

pub use authorizer::{AuthorizerEvent, AuthorizerReply, Front, Known, token, valid_key, verdict};
pub use call::Call;
pub use code::Code;
pub use cursor::{Cursor, CursorKey};
pub use event::{Answering, Event, EventReply, Question, answer, answer_anyone};
pub use field::FieldError;
pub use fields::{Field, Fields};
pub use happened::Happened;
pub use invalid::{invalid_declaration, invalid_schema};
pub use program::{run, run_with_key};
pub use query::Query;
pub use reply::{Content, Failure, OBJECTS_BYTES_MAX, Reply, fitting};
pub use route::{Access, Function, Operation, ROUTES, Route, function_of};
pub use secret::{Secret, key_hash};
pub use told::told;
