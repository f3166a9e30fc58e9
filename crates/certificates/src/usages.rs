//! The usages of keys, by their names in Kubernetes' API.

use crate::der;

/// The bits of the extension `keyUsage`, counted from the first bit on the wire.
const KEY_USAGES: [(&str, u16); 10] = [
    ("signing", 0),
    ("digital signature", 0),
    ("content commitment", 1),
    ("key encipherment", 2),
    ("data encipherment", 3),
    ("key agreement", 4),
    ("cert sign", 5),
    ("crl sign", 6),
    ("encipher only", 7),
    ("decipher only", 8),
];

/// The identifiers of extended usages, encoded, in the order in which they are written.
const EXTENDED: [(&str, &[u8]); 13] = [
    ("any", &[0x55, 0x1d, 0x25, 0x00]),
    ("server auth", &[0x2b, 6, 1, 5, 5, 7, 3, 1]),
    ("client auth", &[0x2b, 6, 1, 5, 5, 7, 3, 2]),
    ("code signing", &[0x2b, 6, 1, 5, 5, 7, 3, 3]),
    ("email protection", &[0x2b, 6, 1, 5, 5, 7, 3, 4]),
    ("s/mime", &[0x2b, 6, 1, 5, 5, 7, 3, 4]),
    ("ipsec end system", &[0x2b, 6, 1, 5, 5, 7, 3, 5]),
    ("ipsec tunnel", &[0x2b, 6, 1, 5, 5, 7, 3, 6]),
    ("ipsec user", &[0x2b, 6, 1, 5, 5, 7, 3, 7]),
    ("timestamping", &[0x2b, 6, 1, 5, 5, 7, 3, 8]),
    ("ocsp signing", &[0x2b, 6, 1, 5, 5, 7, 3, 9]),
    ("microsoft sgc", &[0x2b, 6, 1, 4, 1, 0x82, 0x37, 10, 3, 3]),
    ("netscape sgc", &[0x60, 0x86, 0x48, 1, 0x86, 0xf8, 0x42, 4, 1]),
];

/// The extensions of a certificate with these usages. An error lists unknown usages.
pub(crate) fn extensions(usages: &[String]) -> Result<Vec<Vec<u8>>, String> {
    let is_known = |usage: &&String| {
        KEY_USAGES.iter().any(|(name, _)| name == usage) || EXTENDED.iter().any(|(name, _)| name == usage)
    };
    let unknown: Vec<_> = usages.iter().filter(|usage| !is_known(usage)).collect();
    if !unknown.is_empty() {
        return Err(format!("unrecognized usage values: {unknown:?}"));
    }
    let mut extensions = Vec::new();
    let used = |name: &str| usages.iter().any(|usage| usage == name);
    let bits =
        KEY_USAGES.iter().filter(|(name, _)| used(name)).fold(0u16, |bits, (_, bit)| bits | 0x8000 >> bit);
    if bits != 0 {
        extensions.push(der::extension(&[0x55, 0x1d, 0x0f], true, &bit_flags(bits)));
    }
    let mut extended: Vec<&[u8]> =
        EXTENDED.iter().filter(|(name, _)| used(name)).map(|(_, oid)| *oid).collect();
    extended.dedup();
    if !extended.is_empty() {
        let oids: Vec<_> = extended.into_iter().map(der::oid).collect();
        let parts: Vec<&[u8]> = oids.iter().map(Vec::as_slice).collect();
        extensions.push(der::extension(&[0x55, 0x1d, 0x25], false, &der::sequence(&parts)));
    }
    Ok(extensions)
}

/// A bit string of flags without trailing zeros.
fn bit_flags(bits: u16) -> Vec<u8> {
    let bytes = bits.to_be_bytes();
    let used: &[u8] = if bytes[1] == 0 { &bytes[..1] } else { &bytes };
    let unused = u8::try_from(used.last().map_or(0, |byte| byte.trailing_zeros())).unwrap_or_default();
    der::tagged(0x03, &[&[unused], used])
}
