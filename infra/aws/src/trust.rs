//! Whom a TLS connection trusts.

use crate::log;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_http_client::{Builder, Connector};
use aws_smithy_runtime_api::client::dns::ResolveDns;
use aws_smithy_runtime_api::client::http::{SharedHttpClient, SharedHttpConnector};
use std::path::PathBuf;

/// The five roots of Amazon Trust Services, which certify what AWS's endpoints are.
const AMAZON: &[u8] = include_bytes!("amazon.pem");

/// Whom to trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Amazon: to read all that a machine trusts takes longer than the rest of a function's start.
    Amazon,
    /// Whomever the machine trusts.
    Machine,
    /// The certificates of a file, and no others.
    Bundle(PathBuf),
}

impl Trust {
    /// This, unless `AWS_CA_BUNDLE` names a file of certificates.
    pub fn unless_told(self) -> Self {
        std::env::var_os("AWS_CA_BUNDLE").map_or(self, |file| Self::Bundle(file.into()))
    }
}

/// A client that speaks TLS, for the SDK.
pub fn https(trust: &Trust) -> SharedHttpClient {
    Builder::new().tls_provider(PROVIDER).tls_context(context(trust)).build_https()
}

/// The same for requests of our own.
pub fn connector(trust: &Trust) -> SharedHttpConnector {
    let connector = Connector::builder().tls_provider(PROVIDER).tls_context(context(trust)).build();
    SharedHttpConnector::new(connector)
}

/// The same for requests that may go only where a resolver leads.
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
                // Nobody is trusted then, so no connection comes about.
                log(&format!("certificates to trust: {}", file.display()), &error.to_string());
                TrustStore::empty()
            }
        },
    };
    TlsContext::builder().with_trust_store(store).build().expect("a context of a store")
}
