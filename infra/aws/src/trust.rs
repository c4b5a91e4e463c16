//! The certificate authorities that a TLS connection trusts (decision record 14).

use crate::log;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_http_client::{Builder, Connector};
use aws_smithy_runtime_api::client::dns::ResolveDns;
use aws_smithy_runtime_api::client::http::{SharedHttpClient, SharedHttpConnector};
use std::path::PathBuf;

/// The five roots of Amazon Trust Services, which certify the endpoints of AWS.
const AMAZON: &[u8] = include_bytes!("amazon.pem");

/// A set of certificate authorities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Amazon's roots, which are compiled in because reading all authorities of a machine dominates a cold start.
    Amazon,
    /// The authorities of the machine.
    Machine,
    /// Only the certificates in this PEM file.
    Bundle(PathBuf),
}

impl Trust {
    /// Returns the file that `AWS_CA_BUNDLE` names, or `self` if the variable is not set.
    pub fn with_env_override(self) -> Self {
        std::env::var_os("AWS_CA_BUNDLE").map_or(self, |file| Self::Bundle(file.into()))
    }
}

/// Returns an HTTPS client for the SDK.
pub fn https(trust: &Trust) -> SharedHttpClient {
    Builder::new().tls_provider(PROVIDER).tls_context(context(trust)).build_https()
}

/// Returns an HTTPS connector for requests without the SDK.
pub fn connector(trust: &Trust) -> SharedHttpConnector {
    let connector = Connector::builder().tls_provider(PROVIDER).tls_context(context(trust)).build();
    SharedHttpConnector::new(connector)
}

/// Returns an HTTPS connector that connects only to the addresses of `resolver`.
pub fn connector_by(trust: &Trust, resolver: impl ResolveDns + Clone + 'static) -> SharedHttpConnector {
    let connector = Connector::builder().tls_provider(PROVIDER).tls_context(context(trust));
    SharedHttpConnector::new(connector.build_with_resolver(resolver))
}

const PROVIDER: Provider = Provider::Rustls(CryptoMode::Ring);

#[expect(clippy::expect_used, reason = "the context takes the store as it is")]
fn context(trust: &Trust) -> TlsContext {
    let store = match trust {
        Trust::Amazon => TrustStore::empty().with_pem_certificate(AMAZON),
        Trust::Machine => TrustStore::default(),
        Trust::Bundle(file) => match std::fs::read(file) {
            Ok(bundle) => TrustStore::empty().with_pem_certificate(bundle),
            Err(error) => {
                // An empty store makes every connection fail. A fallback to other authorities would trust more than
                // the operator wants.
                log(&format!("certificates to trust: {}", file.display()), &error.to_string());
                TrustStore::empty()
            }
        },
    };
    TlsContext::builder().with_trust_store(store).build().expect("a context of a store")
}
