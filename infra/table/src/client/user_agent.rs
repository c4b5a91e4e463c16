//! The user agent of the calls, computed once in each process.
//!
//! The SDK computes the text for each call with 60,000 instructions, although all calls have the same text.

use aws_runtime::user_agent::UserAgentInterceptor;
use aws_sdk_dynamodb::config::interceptors::{
    BeforeSerializationInterceptorContextRef, BeforeTransmitInterceptorContextMut,
    BeforeTransmitInterceptorContextRef,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::client::interceptors::{
    DisableInterceptor, disable_interceptor, dyn_dispatch_hint,
};
use std::sync::OnceLock;

/// Names of the headers with the user agent.
const NAMES: [&str; 2] = ["user-agent", "x-amz-user-agent"];

/// The interceptor of the SDK client that sends the headers of the first call in all later calls.
#[derive(Debug, Default)]
pub(super) struct CachedUserAgent {
    /// Values of the headers, in the order of [`NAMES`].
    values: OnceLock<[String; 2]>,
}

#[dyn_dispatch_hint]
impl Intercept for CachedUserAgent {
    fn name(&self) -> &'static str {
        "CachedUserAgent"
    }

    fn read_before_execution(
        &self,
        _: &BeforeSerializationInterceptorContextRef<'_>,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if self.values.get().is_some() {
            config.interceptor_state().store_put(disable_interceptor::<UserAgentInterceptor>("cached"));
        }
        Ok(())
    }

    fn modify_before_signing(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        // A call that began before the first one was signed still gets its headers from the SDK.
        let is_cached = config.load::<DisableInterceptor<UserAgentInterceptor>>().is_some();
        if let Some(values) = self.values.get().filter(|_| is_cached) {
            let headers = context.request_mut().headers_mut();
            for (name, value) in NAMES.into_iter().zip(values) {
                headers.insert(name, value.clone());
            }
        }
        Ok(())
    }

    fn read_before_signing(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if self.values.get().is_none() {
            let headers = context.request().headers();
            if let [Some(one), Some(other)] = NAMES.map(|name| headers.get(name)) {
                self.values.get_or_init(|| [one, other].map(str::to_owned));
            }
        }
        Ok(())
    }
}
