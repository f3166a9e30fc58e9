//! No input makes decoding panic, and every object can be written and read again.

use gantry_json::{Value, json};
use gantry_schema::decode::{self, Format, Gvk};
use gantry_schema::empties::{self, Form};
use gantry_schema::encode;
use gantry_schema::kinds::kinds;
use proptest::prelude::*;

use crate::any_object::{Choices, object};
use crate::protobuf_writer;

fn gvks() -> Vec<Gvk<'static>> {
    let all = kinds().all().map(|kind| Gvk::new(kind.group, kind.version, kind.kind));
    all.filter(|gvk| gvk.message().is_some()).collect()
}

/// Any object of any kind, not in canonical form.
fn any_object() -> impl Strategy<Value = (Gvk<'static>, Value)> {
    (proptest::sample::select(gvks()), proptest::collection::vec(any::<u8>(), 0..1500)).prop_map(
        |(gvk, row)| {
            let mut value = object(gvk.message().unwrap(), &mut Choices { left: row.iter() });
            value["kind"] = json!(gvk.kind);
            value["apiVersion"] = json!(gvk.api_version());
            (gvk, value)
        },
    )
}

/// A body with fragments of JSON and YAML.
fn scraps() -> impl Strategy<Value = Vec<u8>> {
    let scrap = proptest::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "null",
        "true",
        "1",
        "-0",
        "1.5e3",
        "\"metadata\":",
        "\"spec\":{",
        "\"containers\":[{",
        "\"name\":",
        "\"a\"",
        "\"\\ud800\"",
        "- ",
        "a: ",
        "\n",
        "  ",
        "&a ",
        "*a",
        "<<: ",
        "'",
        "|\n",
    ]);
    proptest::collection::vec(scrap, 0..40).prop_map(|scraps| scraps.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// A2.7: encoding and decoding an object in canonical form does not change it.
    #[test]
    fn an_object_survives_being_written_and_read((gvk, sent) in any_object()) {
        let id = gvk.message().unwrap();
        let first = decode::object(sent.to_string().as_bytes(), Format::Json, gvk).unwrap();
        prop_assert_eq!(&first.findings, &[]);
        let written = encode::object(&first.object, &id.into());
        // JSON omits some empty lists and maps, and nothing else.
        let kept = empties::in_form(Form::Written, &id.into(), &first.object).into_owned();
        let again = decode::object(&written, Format::Json, gvk).unwrap();
        prop_assert_eq!(&again.object, &kept);
        let laid_out = decode::object(&encode::pretty(&written), Format::Yaml, gvk).unwrap();
        prop_assert_eq!(&laid_out.object, &kept);
        prop_assert_eq!(&decode::value(first.object.clone(), &id.into()).unwrap().object, &first.object);
    }

    /// A9.5: JSON and protobuf decode to the same object.
    #[test]
    fn protobuf_leads_to_the_same_object((gvk, sent) in any_object()) {
        let text = decode::object(sent.to_string().as_bytes(), Format::Json, gvk).unwrap();
        let body = protobuf_writer::body(&text.object, gvk.message().unwrap());
        let binary = decode::object(&body, Format::Protobuf, gvk).unwrap();
        let kept = empties::in_form(Form::Stored, &gvk.message().unwrap().into(), &text.object).into_owned();
        prop_assert_eq!(binary.object, kept);
    }

    /// A2.12, A9.4: any bytes are decoded or refused.
    #[test]
    fn any_bytes_are_decoded_or_refused(gvk in proptest::sample::select(gvks()), bytes in proptest::collection::vec(any::<u8>(), 0..200), scraps in scraps()) {
        for body in [&bytes, &scraps] {
            for format in [Format::Json, Format::Yaml, Format::Protobuf] {
                let _is_decoded = decode::object(body, format, gvk).is_ok();
                let _read = decode::plain(body, format).is_ok();
            }
        }
        let envelope = protobuf_writer::body(&json!({"kind": gvk.kind, "apiVersion": gvk.api_version()}), gvk.message().unwrap());
        let _is_decoded = decode::object(&[&envelope[..], b"\x12\x00", &bytes].concat(), Format::Protobuf, gvk).is_ok();
    }

    /// A9.4: a body with a changed byte, or of which the end is missing, is decoded or refused.
    #[test]
    fn damaged_objects_are_decoded_or_refused((gvk, sent) in any_object(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let text = decode::object(sent.to_string().as_bytes(), Format::Json, gvk).unwrap();
        for (mut body, format) in [
            (protobuf_writer::body(&text.object, gvk.message().unwrap()), Format::Protobuf),
            (encode::object(&text.object, &gvk.message().unwrap().into()), Format::Json),
        ] {
            let at = place.index(body.len());
            body[at] = byte;
            let _is_decoded = decode::object(&body, format, gvk).is_ok();
            let _cut = decode::object(&body[..at], format, gvk).is_ok();
        }
    }
}
