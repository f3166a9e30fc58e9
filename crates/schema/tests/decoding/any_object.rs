//! Objects of every kind with any content that the schema allows, made from a list of choices.

use gantry_json::{Map, Value, json};
use gantry_schema::schema::{MessageId, Other, Type, schema};

/// A list of choices; once it is empty, the first choice is taken.
pub(crate) struct Choices<'a> {
    pub(crate) left: std::slice::Iter<'a, u8>,
}

impl Choices<'_> {
    fn next(&mut self) -> u8 {
        self.left.next().copied().unwrap_or(0)
    }
}

/// Makes an object of a message. Fields are rare enough for the choices to reach deep ones.
pub(crate) fn object(id: MessageId, choices: &mut Choices<'_>) -> Value {
    let mut members = Map::new();
    for field in schema().each_field(id) {
        if choices.next() > 150 {
            members.insert(field.json.to_owned(), value(&field.kind, choices));
        }
    }
    Value::Object(members)
}

fn value(kind: &Type, choices: &mut Choices<'_>) -> Value {
    let choice = choices.next();
    let pick = |texts: &[&str]| Value::from(texts[usize::from(choice) % texts.len()]);
    match kind {
        Type::String => pick(&["", "a", "x<y>&\u{2028}", "é \"quoted\" \\ \n"]),
        Type::Bool => json!(choice % 2 == 1),
        Type::Int32 => json!([0, 1, -1, i32::MAX, i32::MIN][usize::from(choice) % 5]),
        Type::Int64 => json!([0, 7, i64::MAX, i64::MIN][usize::from(choice) % 4]),
        Type::Float64 => json!(0.5),
        Type::Bytes => pick(&["", "AAEC/w==", "aGVsbG8="]),
        Type::Quantity => pick(&["0", "500m", "1000m", "1Gi", "1024Mi", "1e3", "100.5m"]),
        Type::IntOrString => [json!(0), json!(80), json!("25%"), json!("")][usize::from(choice) % 4].clone(),
        Type::Time => pick(&["2026-01-02T03:04:05Z", "2026-12-31T23:59:59Z"]),
        Type::MicroTime => pick(&["2026-01-02T03:04:05.123456Z", "2026-02-28T00:00:00.000000Z"]),
        Type::Duration => json!("1s"),
        Type::Raw => json!({"any": [1, choice, {"thing": null}]}),
        Type::List(element) => (0..choice % 3).map(|_| value(element, choices)).collect(),
        Type::Map(kind) => {
            let entries = (0..choice % 3).map(|index| (format!("key-{index}"), value(kind, choices)));
            Value::Object(entries.collect())
        }
        Type::Message(id) | Type::Inline(id) => object(*id, choices),
        Type::Or(other, id) => match (choice % 2, other) {
            (0, _) => object(*id, choices),
            (_, Other::Bool) => json!(choice % 4 == 1),
            (_, Other::List) => (0..choice % 3).map(|_| object(*id, choices)).collect(),
            (_, Other::Texts) => json!(["a", "b"]),
        },
    }
}
