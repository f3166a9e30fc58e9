//! Objects and lists in the form that was asked for.

use gantry_registry::table::{
    Headings, IncludeObject, Layout, Printer, is_a_list, not_a_list, partial, partial_list,
};
use gantry_registry::{Refusal, encode};
use serde_json::Value;

use super::call::Call;
use crate::accept::View;
use crate::answer::Answer;

impl Call<'_> {
    /// One object as an answer.
    pub(super) fn render(&self, status: u16, object: &Value) -> Result<Answer, Refusal> {
        Ok(match self.view {
            View::Plain | View::Discovery => Answer::json(status, encode::object(object, self.kind.message)),
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

    /// A list as an answer.
    pub(super) fn render_list(&self, metadata: &Value, items: &[Value]) -> Result<Answer, Refusal> {
        Ok(match self.view {
            View::Plain | View::Discovery => {
                let kind = format!("{}List", self.kind.kind);
                let api_version = self.kind.api_version();
                Answer::json(200, encode::list(&kind, &api_version, metadata, items, self.kind.message))
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

    pub(super) fn printer(&self) -> Printer {
        Printer::of(self.kind.group, self.kind.kind)
    }

    pub(super) fn include(&self) -> Result<IncludeObject, Refusal> {
        IncludeObject::parse(self.query.first("includeObject").unwrap_or_default())
    }
}
