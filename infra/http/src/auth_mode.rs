//! The part in front of a function: API Gateway, or nothing.

use crate::authorizer::{Identity, authorizer_response, valid_key};
use crate::event::{Event, SCHEME};
use aws_lambda_events::apigw::ApiGatewayRequestAuthorizer;
use dovetail_table::{Error, Table};
use http::HeaderValue;
use std::ffi::OsStr;

/// The part in front of a function, and so the source of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// API Gateway with the authorizer: the context has the caller.
    Gateway,
    /// Nothing, as under `cargo lambda watch`: the function looks up the API key itself (ADR 9).
    Nothing,
}

impl AuthMode {
    /// Reads `DOVETAIL_FRONT`: unset means API Gateway, `none` means nothing.
    pub fn from_env() -> Result<Self, String> {
        Self::parse(std::env::var_os("DOVETAIL_FRONT").as_deref())
    }

    /// Parses the setting. Any other value is an error, so a function with a typo does not start.
    fn parse(setting: Option<&OsStr>) -> Result<Self, String> {
        match setting {
            None => Ok(Self::Gateway),
            Some(setting) if setting == "none" => Ok(Self::Nothing),
            Some(setting) => {
                Err(format!("DOVETAIL_FRONT must be `none` or unset, not {}", setting.display()))
            }
        }
    }

    /// Returns the event as from API Gateway.
    ///
    /// If nothing is in front, the function replaces caller and request id, because a client can write both into the
    /// event.
    pub async fn event(
        self,
        table: Option<&Table>,
        invocation: String,
        mut event: Event,
    ) -> Result<Event, Error> {
        match self {
            Self::Gateway => {}
            Self::Nothing => {
                let key = match table {
                    Some(table) => valid_key(table, &event.headers).await?.map(Identity::Key),
                    // A function without a table has only routes without a caller.
                    None => None,
                };
                let mut authorizer = ApiGatewayRequestAuthorizer::default();
                authorizer.fields = authorizer_response(key.as_ref()).context.into_iter().collect();
                event.request_context.authorizer = Some(authorizer);
                event.request_context.request_id = Some(invocation);
                // `cargo lambda watch` has no TLS, and links must lead back to it.
                let scheme = event.headers.entry(SCHEME);
                scheme.or_insert(HeaderValue::from_static("http"));
            }
        }
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_none_takes_the_gateway_away() {
        assert_eq!(AuthMode::parse(None), Ok(AuthMode::Gateway));
        assert_eq!(AuthMode::parse(Some(OsStr::new("none"))), Ok(AuthMode::Nothing));
        for setting in ["", "None", "none ", "nothing", "0", "gateway"] {
            assert!(AuthMode::parse(Some(OsStr::new(setting))).is_err(), "{setting:?}");
        }
    }
}
