//! TLS in front of a plain HTTP server, like AWS's endpoints.

use crate::running::Running;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::CertifiedKey;
use std::convert::Infallible;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tempfile::NamedTempFile;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

const HOST: &str = "127.0.0.1";

/// A TLS proxy of a server that stops when it is dropped.
pub struct Tls {
    port: u16,
    bundle: NamedTempFile,
    stood: Arc<Mutex<Option<Instant>>>,
    task: JoinHandle<Infallible>,
}

impl Tls {
    /// Starts a proxy of the server at this URL.
    pub fn before(url: &str, system: &Running) -> Self {
        let upstream: Arc<str> = url.strip_prefix("http://").unwrap().trim_end_matches('/').into();
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed([HOST.to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let mut bundle = NamedTempFile::new().unwrap();
        bundle.write_all(pem(cert.der()).as_bytes()).unwrap();
        let listener = system.block_on(TcpListener::bind((HOST, 0))).unwrap();
        let port = listener.local_addr().unwrap().port();
        let stood = Arc::<Mutex<Option<Instant>>>::default();
        let serving = serve(listener, TlsAcceptor::from(Arc::new(config)), upstream, Arc::clone(&stood));
        Self { port, bundle, stood, task: system.spawn(serving) }
    }

    /// Returns the URL of the proxy.
    pub fn url(&self) -> String {
        format!("https://{HOST}:{}", self.port)
    }

    /// Returns the path of its certificate, for clients that trust it.
    pub fn bundle(&self) -> &Path {
        self.bundle.path()
    }

    /// Returns the time of the last completed handshake.
    pub fn stood(&self) -> Option<Instant> {
        *self.stood.lock().unwrap()
    }

    /// Returns the environment of a function with this proxy as AWS's endpoint.
    pub fn environment(&self, of: &str) -> String {
        let plain = ["DOVETAIL_ENDPOINT=", "DOVETAIL_BUS_ENDPOINT="];
        let lines = of.lines().filter(|line| !plain.iter().any(|name| line.starts_with(name)));
        let url = format!("AWS_ENDPOINT_URL={}", self.url());
        let bundle = format!("AWS_CA_BUNDLE={}", self.bundle().display());
        lines.chain([url.as_str(), &bundle]).collect::<Vec<_>>().join("\n")
    }
}

fn pem(der: &[u8]) -> String {
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(der))
}

impl Drop for Tls {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    listener: TcpListener,
    tls: TlsAcceptor,
    upstream: Arc<str>,
    stood: Arc<Mutex<Option<Instant>>>,
) -> Infallible {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        drop(stream.set_nodelay(true));
        let (tls, upstream, stood) = (tls.clone(), Arc::clone(&upstream), Arc::clone(&stood));
        // A stopped function drops its connections, which is not a failure.
        tokio::spawn(async move {
            let (stream, to) = tokio::join!(tls.accept(stream), TcpStream::connect(&*upstream));
            if let (Ok(mut stream), Ok(mut to)) = (stream, to) {
                *stood.lock().unwrap() = Some(Instant::now());
                drop(to.set_nodelay(true));
                drop(copy_bidirectional(&mut stream, &mut to).await);
            }
        });
    }
}
