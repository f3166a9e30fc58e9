//! The answer to a query, as far as it is known in the cluster.

use crate::message::{Query, Record, RecordData, RecordType, Response, ResponseCode};
use crate::zone::{Found, Zone};

/// The maximum number of aliases that are followed.
const ALIASES_MAX: usize = 8;

/// The result of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The response.
    Known(Response),
    /// The name is an alias of a name that is not the cluster's; the addresses of that complete the response.
    Alias(Response, String),
    /// The query has to be forwarded.
    Foreign,
}

/// Answers a query.
pub(crate) fn answer(query: &Query, zone: &Zone) -> Answer {
    let mut answers = Vec::new();
    let mut name = query.name.clone();
    for depth in 0..=ALIASES_MAX {
        let found = match zone.find(&name) {
            Found::Foreign if depth == 0 => return Answer::Foreign,
            Found::Foreign => return Answer::Alias(response(zone, answers), name),
            Found::Nothing if depth == 0 => {
                let response = response(zone, answers);
                return Answer::Known(Response { code: ResponseCode::NameError, ..response });
            }
            Found::Nothing => break,
            Found::Records(found) => found,
        };
        let is_meant = |data: &RecordData| query.kind == RecordType::ANY || data.kind() == query.kind;
        let mut meant: Vec<RecordData> = found.iter().filter(|data| is_meant(data)).cloned().collect();
        if !meant.is_empty() {
            // Clients that use the first address are distributed over all of them.
            let by = usize::from(query.id) % meant.len();
            meant.rotate_left(by);
            answers.extend(meant.into_iter().map(|data| Record { name: name.clone(), data }));
            break;
        }
        let alias = found.into_iter().find_map(|data| match data {
            RecordData::Alias(target) => Some(target),
            _ => None,
        });
        let Some(target) = alias else { break };
        answers.push(Record { name, data: RecordData::Alias(target.clone()) });
        name = target;
    }
    Answer::Known(response(zone, answers))
}

/// Returns a response with these answers, and the addresses of the targets that they name.
fn response(zone: &Zone, answers: Vec<Record>) -> Response {
    let mut additionals = Vec::new();
    for answer in &answers {
        let RecordData::Service { target, .. } = &answer.data else { continue };
        let Found::Records(found) = zone.find(target) else { continue };
        let addresses = found.into_iter().filter(|data| matches!(data, RecordData::Address(_)));
        for record in addresses.map(|data| Record { name: target.clone(), data }) {
            if !additionals.contains(&record) {
                additionals.push(record);
            }
        }
    }
    let authorities = if answers.is_empty() {
        vec![Record { name: zone.domain.clone(), data: zone.authority() }]
    } else {
        Vec::new()
    };
    Response { code: ResponseCode::NoError, is_authoritative: true, answers, authorities, additionals }
}
