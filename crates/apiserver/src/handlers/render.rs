//! Renders objects and lists in the negotiated representation.

use gantry_registry::selector::Selectable;
use gantry_registry::table::{
    Headings, IncludeObject, Layout, Printer, is_a_list, not_a_list, partial, partial_list,
};
use gantry_schema::encode::{self, TypeMeta};
use gantry_schema::kinds::Kind;
use gantry_store::Versioned;
use serde_json::Value;

use super::call::Call;
use crate::accept::View;
use crate::error::ApiError;
use crate::objects::ObjectResponse;
use crate::response::ApiResponse;
use crate::storage_codec;

impl Call<'_> {
    /// Renders an object.
    pub(super) fn render(&self, status: u16, object: &Value) -> Result<ApiResponse, ApiError> {
        Ok(match self.view {
            View::Plain | View::Discovery => {
                ApiResponse::json(status, encode::object(object, &self.kind.nature))
            }
            View::Table(version) => {
                let layout = Layout { version, include: self.include()?, headings: Headings::Shown };
                ApiResponse::value(
                    status,
                    &self.printer().table_of_one(object, layout, self.server.environment.now()),
                )
            }
            View::Partial(version) => ApiResponse::value(status, &partial(object, version)),
            View::PartialList(_) => return Err(not_a_list(self.kind.group, self.kind.kind).into()),
        })
    }

    /// Renders an object from its stored bytes.
    pub(super) fn render_stored(&self, status: u16, stored: &Versioned) -> Result<ApiResponse, ApiError> {
        if !matches!(self.view, View::Plain | View::Discovery) {
            let object = storage_codec::decode(self.kind, &stored.value, stored.revision)?;
            return self.render(status, &object);
        }
        let mut bytes = Vec::with_capacity(stored.value.len() + 48);
        storage_codec::write(self.kind, &stored.value, stored.revision, TypeMeta::Written, &mut bytes)?;
        bytes.push(b'\n');
        Ok(ApiResponse::json(status, bytes))
    }

    /// Renders the result of a write.
    pub(super) fn render_response(
        &self,
        status: u16,
        shown: &ObjectResponse,
    ) -> Result<ApiResponse, ApiError> {
        match (self.view, shown.bytes()) {
            (View::Plain | View::Discovery, Some(stored)) => self.render_stored(status, stored),
            _ => self.render(status, shown),
        }
    }

    /// Renders a list.
    pub(super) fn render_list(&self, metadata: &Value, items: &[Value]) -> Result<ApiResponse, ApiError> {
        Ok(match self.view {
            View::Plain | View::Discovery => {
                let Kind { list_kind, api_version, nature, .. } = self.kind.as_ref();
                ApiResponse::json(200, encode::list(list_kind, api_version, metadata, items, nature))
            }
            View::Table(version) => {
                let layout = Layout { version, include: self.include()?, headings: Headings::Shown };
                ApiResponse::value(
                    200,
                    &self.printer().table(metadata, items, layout, self.server.environment.now()),
                )
            }
            View::PartialList(version) => ApiResponse::value(200, &partial_list(metadata, items, version)),
            View::Partial(_) => return Err(is_a_list(self.kind.group, self.kind.kind).into()),
        })
    }

    pub(super) fn printer(&self) -> Printer<'_> {
        Printer::of_kind(self.kind)
    }

    /// The fields that field selectors of this kind support.
    pub(super) fn selectable(&self) -> Selectable<'_> {
        Selectable::of_kind(self.kind)
    }

    pub(super) fn include(&self) -> Result<IncludeObject, ApiError> {
        Ok(IncludeObject::parse(self.info.query.first("includeObject").unwrap_or_default())?)
    }
}
