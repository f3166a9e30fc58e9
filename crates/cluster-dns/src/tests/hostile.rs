//! Messages that are large, malformed or hostile.

use std::net::IpAddr;

use super::{query, zone};
use crate::answer::{Answer, answer};
use crate::message::{Query, Record, RecordData, RecordType, Response, ResponseCode, addresses_in};

fn many() -> Response {
    let record = |n: u8| Record {
        name: "web.shop.svc.cluster.local".to_owned(),
        data: RecordData::Address(IpAddr::from([10, 1, 0, n])),
    };
    let answers = (0..200).map(record).collect();
    Response {
        code: ResponseCode::NoError,
        is_authoritative: true,
        answers,
        authorities: vec![],
        additionals: vec![],
    }
}

#[test]
fn a_large_response_is_truncated_over_udp_and_complete_over_tcp() {
    let plain = query("web.shop.svc.cluster.local", RecordType::A);
    let mut with_edns = plain.clone();
    with_edns[11] = 1;
    with_edns.extend([0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0]);
    for (message, limit) in [(plain, 512), (with_edns, 1232)] {
        let query = Query::parse(&message).unwrap();
        let over_udp = query.respond(&many(), false);
        assert!(over_udp.len() <= limit && over_udp.len() > limit - 40, "{}", over_udp.len());
        assert_eq!(over_udp[2] & 0x02, 0x02, "it is marked as truncated");
        let over_tcp = query.respond(&many(), true);
        assert_eq!(over_tcp[2] & 0x02, 0);
        assert_eq!(addresses_in(&over_tcp).unwrap().len(), 200);
        assert!(addresses_in(&over_udp).unwrap().len() > 20);
    }
}

#[test]
fn responses_are_ignored_and_malformed_queries_refused() {
    let mut response = query("web.shop.svc.cluster.local", RecordType::A);
    response[2] |= 0x80;
    assert_eq!(Query::parse(&response), Err(None));
    assert_eq!(Query::parse(&[1, 2, 3]), Err(None));
    let mut update = query("web.shop.svc.cluster.local", RecordType::A);
    update[2] = 5 << 3;
    assert_eq!(Query::parse(&update), Err(Some((7, ResponseCode::NotImplemented))));
    let mut two = query("web.shop.svc.cluster.local", RecordType::A);
    two[5] = 2;
    assert_eq!(Query::parse(&two), Err(Some((7, ResponseCode::FormatError))));
}

#[test]
fn a_name_that_points_to_itself_is_refused() {
    let message = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 12, 0, 1, 0, 1];
    assert_eq!(Query::parse(&message), Err(Some((7, ResponseCode::FormatError))));
}

#[test]
fn no_message_of_any_length_or_content_panics() {
    let whole = query("_http._tcp.web.shop.svc.cluster.local", RecordType::SRV);
    let zone = zone();
    let mut random: u32 = 1;
    for round in 0..20_000_usize {
        let mut message = whole[..whole.len() - round % (whole.len() / 2)].to_vec();
        for _ in 0..round % 5 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (random >> 8) as usize % message.len();
            message[at] = (random >> 24) as u8;
        }
        if let Ok(query) = Query::parse(&message)
            && let Answer::Known(response) = answer(&query, &zone)
        {
            assert!(query.respond(&response, false).len() <= 1232);
        }
        let _ = addresses_in(&message);
    }
}
