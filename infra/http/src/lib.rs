//! The HTTP layer of the functions: routes, calls, replies, the error table and the objects of the API.
//!
//! A handler receives a [`Call`] and returns a [`Reply`], and never sees an event of API Gateway.

mod answer;
mod auth_mode;
mod authorizer;
mod call;
mod caller;
mod code;
mod cursor;
mod event;
mod event_list;
mod fair_use;
mod field;
mod fields;
mod gateway;
mod gzip;
mod invalid;
mod log_line;
mod multipart;
mod operation;
mod program;
mod query;
mod removal;
mod reply;
mod request;
mod route;
mod secret;
mod unknown;
pub mod view;

pub use answer::{Answering, Handled, Question, answer, answer_anyone};
pub use auth_mode::AuthMode;
pub use authorizer::{AuthorizerEvent, AuthorizerReply, Identity, authorizer_response, token, valid_key};
pub use call::Call;
pub use code::Code;
pub use cursor::{Cursor, CursorKey};
pub use event::{Event, EventReply};
pub use event_list::EventList;
pub use fair_use::{FairUse, TEAM_BURST};
pub use field::FieldError;
pub use fields::{Field, Fields};
pub use gateway::respond;
pub use invalid::{invalid_declaration, invalid_for_state, invalid_schema, with_removals};
pub use lambda_http::{Error, Request};
pub use log_line::logged;
pub use operation::{Function, Operation};
pub use program::{run, run_with_key, serve, serve_without_table};
pub use query::Query;
pub use reply::{Content, Failure, OBJECTS_BYTES_MAX, PackedFile, Reply, fitting, objects};
pub use route::{Access, FILES, ROUTES, Route, Scope, function_of};
pub use secret::{Secret, key_hash};
