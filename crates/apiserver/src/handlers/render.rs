//! Renders objects and lists in the negotiated representation.

use gantry_json::Value;
use gantry_registry::selector::Selectable;
use gantry_registry::table::{
    Headings, IncludeObject, Layout, Printer, is_a_list, not_a_list, partial, write_partial_list,
};
use gantry_schema::encode::{self, TypeMeta};
use gantry_store::Versioned;

use super::call::Call;
use super::read::ListedObjects;
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
                    self.printer().table_of_one(object, layout, self.server.environment.now()),
                )
            }
            View::Partial(version) => ApiResponse::value(status, partial(object, version)),
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
    pub(super) fn render_list(&self, found: &ListedObjects) -> Result<ApiResponse, ApiError> {
        let (metadata, items) = (&found.metadata, found.values(self.kind));
        let bytes = match self.view {
            View::Plain | View::Discovery => found.plain(self.kind)?,
            View::Table(version) => {
                let layout = Layout { version, include: self.include()?, headings: Headings::Shown };
                self.printer().write_table(metadata, items, layout, self.server.environment.now())?
            }
            View::PartialList(version) => write_partial_list(metadata, items, version)?,
            View::Partial(_) => return Err(is_a_list(self.kind.group, self.kind.kind).into()),
        };
        Ok(ApiResponse::json(200, bytes))
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
