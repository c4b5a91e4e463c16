//! The URLs that requests may go to.

use crate::address::is_public;
use http::Uri;
use http::uri::Authority;
use std::net::IpAddr;

/// The set of allowed targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// Targets with TLS and a public address.
    Public,
    /// All targets, including this machine and plain HTTP; for tests and the local system.
    Any,
}

impl Targets {
    /// Returns all targets if `DOVETAIL_TARGETS` is `any`, else the public ones.
    pub fn from_env() -> Self {
        match std::env::var("DOVETAIL_TARGETS").as_deref() {
            Ok("any") => Self::Any,
            Ok(_) | Err(_) => Self::Public,
        }
    }

    /// Returns whether a connection to an address is allowed.
    pub fn allow(self, address: IpAddr) -> bool {
        self == Self::Any || is_public(address)
    }
}

/// A valid URL for requests; its debug form leaves out the content.
///
/// Some URLs contain credentials, for example in the query.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Target")]
pub struct Target(Uri);

/// The reason why a URL is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The text is not an absolute URL.
    NoUrl,
    /// Another scheme than `https`.
    NotHttps,
    /// A user name or a password in the URL.
    Credentials,
    /// A port outside 1 to 65535.
    Port,
    /// A literal address that is not public.
    Address,
}

impl Problem {
    /// Returns whether the address is the reason.
    pub fn is_address(self) -> bool {
        self == Self::Address
    }

    /// Returns the error text, which follows the name of the field.
    pub const fn message(self) -> &'static str {
        match self {
            Self::NoUrl => "must be an absolute URL of ASCII characters",
            Self::NotHttps => "must be https",
            Self::Credentials => "must not contain a user name or a password: send them as `authorization`",
            Self::Port => "must have a port from 1 to 65535",
            Self::Address => "must not contain an address that is not public",
        }
    }
}

impl Target {
    /// Parses a URL and checks it against the allowed targets.
    ///
    /// The function does not resolve names, because a name may resolve differently later: the connection itself checks
    /// the address.
    pub fn parse(url: &str, targets: Targets) -> Result<Self, Problem> {
        let uri: Uri = url.parse().map_err(|_| Problem::NoUrl)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(Problem::NoUrl);
        };
        match (scheme, targets) {
            ("https", _) | ("http", Targets::Any) => {}
            (_, Targets::Public | Targets::Any) => return Err(Problem::NotHttps),
        }
        if authority.as_str().contains('@') {
            return Err(Problem::Credentials);
        }
        let host = authority.host();
        if host.is_empty() {
            return Err(Problem::NoUrl);
        }
        if has_bad_port(authority) {
            return Err(Problem::Port);
        }
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if literal.is_ok_and(|address| !targets.allow(address)) {
            return Err(Problem::Address);
        }
        Ok(Self(uri))
    }

    pub(crate) const fn url(&self) -> &Uri {
        &self.0
    }
}

/// Returns whether the text after the host is not a port from 1 to 65535.
fn has_bad_port(authority: &Authority) -> bool {
    let behind = authority.as_str().get(authority.host().len()..).unwrap_or_default();
    !behind.is_empty() && authority.port_u16().is_none_or(|port| port == 0)
}

/// Returns whether two URLs have the same scheme, host and port. Invalid URLs never match another URL.
pub fn is_same_origin(one: &str, other: &str) -> bool {
    let origin = origin(one);
    origin.is_some() && origin == self::origin(other)
}

fn origin(url: &str) -> Option<(String, String, u16)> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some((scheme, uri.host()?.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let url = "https://example.com/hook?a=b";
        for same in ["https://example.com", "https://EXAMPLE.com:443/other", "HTTPS://example.com/"] {
            assert!(is_same_origin(url, same), "{same}");
        }
        for other in [
            "http://example.com/hook",
            "http://example.com:443/hook",
            "https://example.com:8443/hook",
            "https://example.com.evil.example/hook",
            "https://example.org/hook",
            "https://example.com@evil.example/hook",
            "/hook",
            "",
        ] {
            assert!(!is_same_origin(url, other), "{other}");
        }
        assert!(!is_same_origin("", ""));
    }

    #[test]
    fn only_public_targets_are_such() {
        let public = |url: &str| Target::parse(url, Targets::Public).err();
        for good in [
            "https://example.com",
            "https://example.com:8443/a/b?c=d",
            "https://1.1.1.1/",
            "https://[2606:4700::1111]/",
        ] {
            assert_eq!(public(good), None, "{good}");
        }
        for (bad, problem) in [
            ("", Problem::NoUrl),
            ("example.com/hook", Problem::NoUrl),
            ("/hook", Problem::NoUrl),
            ("https://", Problem::NoUrl),
            ("https:///hook", Problem::NoUrl),
            ("https://bücher.example/", Problem::NoUrl),
            ("https://exa mple.com/", Problem::NoUrl),
            ("https://example.com/\r\nHost: x", Problem::NoUrl),
            ("http://example.com", Problem::NotHttps),
            ("ftp://example.com", Problem::NotHttps),
            ("https://me:secret@example.com", Problem::Credentials),
            ("https://127.0.0.1/", Problem::Address),
            ("https://169.254.169.254/latest/meta-data", Problem::Address),
            ("https://[::1]/", Problem::Address),
            ("https://[::ffff:10.0.0.1]:8443/", Problem::Address),
        ] {
            assert_eq!(public(bad), Some(problem), "{bad}");
        }
        for bad in [
            "https://example.com:0",
            "https://example.com:99999/a",
            "https://example.com:/",
            "https://[::1]:0",
        ] {
            assert_eq!(public(bad), Some(Problem::Port), "finding 26: {bad}");
        }
        assert_eq!(Target::parse("http://127.0.0.1:9/x", Targets::Any).err(), None);
        assert_eq!(Target::parse("ftp://127.0.0.1", Targets::Any).err(), Some(Problem::NotHttps));
    }
}
