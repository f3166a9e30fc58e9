//! Objects and lists in the form that was asked for.

use gantry_registry::kinds::Kind;
use gantry_registry::selector::Selectable;
use gantry_registry::table::{
    Headings, IncludeObject, Layout, Printer, is_a_list, not_a_list, partial, partial_list,
};
use gantry_registry::{Refusal, encode};
use gantry_store::Versioned;
use serde_json::Value;

use super::call::Call;
use crate::accept::View;
use crate::answer::Answer;
use crate::objects::Shown;
use crate::served;

impl Call<'_> {
    /// One object as an answer.
    pub(super) fn render(&self, status: u16, object: &Value) -> Result<Answer, Refusal> {
        Ok(match self.view {
            View::Plain | View::Discovery => Answer::json(status, encode::object(object, &self.kind.nature)),
            View::Table(version) => {
                let layout = Layout { version, include: self.include()?, headings: Headings::Shown };
                Answer::value(
                    status,
                    &self.printer().table_of_one(object, layout, self.server.surroundings.now()),
                )
            }
            View::Partial(version) => Answer::value(status, &partial(object, version)),
            View::PartialList(_) => return Err(not_a_list(self.kind.group, self.kind.kind)),
        })
    }

    /// A stored object as an answer.
    pub(super) fn render_stored(&self, status: u16, stored: &Versioned) -> Result<Answer, Refusal> {
        if !matches!(self.view, View::Plain | View::Discovery) {
            let object = served::parse(self.kind, &stored.value, stored.revision)?;
            return self.render(status, &object);
        }
        let mut bytes = Vec::with_capacity(stored.value.len() + 48);
        served::write_object(self.kind, &stored.value, stored.revision, &mut bytes)?;
        bytes.push(b'\n');
        Ok(Answer::json(status, bytes))
    }

    /// What a write came to, as an answer.
    pub(super) fn render_shown(&self, status: u16, shown: &Shown) -> Result<Answer, Refusal> {
        match (self.view, shown.bytes()) {
            (View::Plain | View::Discovery, Some(stored)) => self.render_stored(status, stored),
            _ => self.render(status, shown),
        }
    }

    /// A list as an answer.
    pub(super) fn render_list(&self, metadata: &Value, items: &[Value]) -> Result<Answer, Refusal> {
        Ok(match self.view {
            View::Plain | View::Discovery => {
                let Kind { list_kind, api_version, nature, .. } = self.kind.as_ref();
                Answer::json(200, encode::list(list_kind, api_version, metadata, items, nature))
            }
            View::Table(version) => {
                let layout = Layout { version, include: self.include()?, headings: Headings::Shown };
                Answer::value(
                    200,
                    &self.printer().table(metadata, items, layout, self.server.surroundings.now()),
                )
            }
            View::PartialList(version) => Answer::value(200, &partial_list(metadata, items, version)),
            View::Partial(_) => return Err(is_a_list(self.kind.group, self.kind.kind)),
        })
    }

    pub(super) fn printer(&self) -> Printer<'_> {
        Printer::of_kind(self.kind)
    }

    /// By which fields objects of the kind can be selected.
    pub(super) fn selectable(&self) -> Selectable<'_> {
        Selectable::of_kind(self.kind)
    }

    pub(super) fn include(&self) -> Result<IncludeObject, Refusal> {
        IncludeObject::parse(self.query.first("includeObject").unwrap_or_default())
    }
}
