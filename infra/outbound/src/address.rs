//! Public addresses, as opposed to those of a machine, a private network or a cloud's metadata service.

use crate::Targets;
use aws_smithy_runtime_api::client::dns::{DnsFuture, ResolveDns, ResolveDnsError};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether an address is public, by IANA's registries of special-purpose addresses.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        // This network, private networks, loopback, multicast and reserved addresses.
        (0 | 10 | 127 | 224..=255, ..)
            // Carrier-grade NAT, link-local addresses with the metadata of clouds, and private networks.
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            // Protocol assignments, documentation and benchmarks.
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(address) = address.to_ipv4_mapped() {
        return is_public_v4(address);
    }
    match address.segments() {
        // Protocol assignments, and tunnels that embed an address of version 4.
        [0x2001, 0..=0x01ff, ..] | [0x2002, ..] => false,
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        // The only block from which IANA assigns public addresses.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

/// The error of a name without a public address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotPublic;

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the host name must resolve to a public address")
    }
}

impl std::error::Error for NotPublic {}

/// Resolves names to allowed addresses alone.
///
/// The connector uses exactly these addresses, so a name that resolves to another address a moment later (DNS
/// rebinding) gains nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolver(pub(crate) Targets);

impl ResolveDns for Resolver {
    fn resolve_dns<'a>(&'a self, name: &'a str) -> DnsFuture<'a> {
        DnsFuture::new(async move {
            let addresses = tokio::net::lookup_host((name, 0)).await.map_err(ResolveDnsError::new)?;
            let allowed: Vec<IpAddr> =
                addresses.map(|address| address.ip()).filter(|address| self.0.allow(*address)).collect();
            if allowed.is_empty() { Err(ResolveDnsError::new(NotPublic)) } else { Ok(allowed) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_everybodys_is_public() {
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "::ffff:1.1.1.1",
            "2606:4700::1111",
            "2a00::1",
            "2001:200::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
