//! `api-resources`: the types that a server has.

use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::print::{Rows, Widths};
use crate::resources::ApiResource;

/// The options of `api-resources`.
#[derive(Clone, Debug, Default)]
pub struct ApiResourcesOptions {
    /// Only those of this group; the empty one is the core group.
    pub group: Option<String>,
    /// Only those in namespaces, or only those that are not.
    pub namespaced: Option<bool>,
    /// Only those that support all of these verbs.
    pub verbs: Vec<String>,
    /// Only those that are in all of these categories.
    pub categories: Vec<String>,
    /// The value of `-o`.
    pub output: Option<String>,
    /// The value of `--no-headers`.
    pub no_headers: bool,
    /// `name` or `kind`.
    pub sort_by: Option<String>,
    /// Unexpected arguments.
    pub words: Vec<String>,
}

/// Lists the types of a server.
pub async fn api_resources(ctx: &mut ClientContext, options: &ApiResourcesOptions) -> Result<(), Failure> {
    let shape = options.shape()?;
    let order = options.order()?;
    let resources = ctx.resources().await?;
    let mut listed: Vec<&ApiResource> = resources.preferred().filter(|one| options.lists(one)).collect();
    // Sorted by group and name by default.
    listed.sort_by(|one, other| {
        let by_name = || (&one.plural, &one.group).cmp(&(&other.plural, &other.group));
        match order {
            Order::Group => one.group.cmp(&other.group).then_with(by_name),
            Order::Name => by_name(),
            Order::Kind => one.kind.cmp(&other.kind).then_with(by_name),
        }
    });
    let text = match shape {
        Shape::Names => listed.iter().map(|one| one.plural_with_group() + "\n").collect(),
        Shape::Rows | Shape::Wide => {
            let rows =
                Rows { header: header(shape), rows: listed.iter().map(|one| row(one, shape)).collect() };
            rows.lines(&mut Widths::default(), !options.no_headers)
        }
    };
    ctx.print(&text)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Rows,
    Wide,
    Names,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Group,
    Name,
    Kind,
}

impl ApiResourcesOptions {
    fn shape(&self) -> Result<Shape, Failure> {
        if !self.words.is_empty() {
            return Err(Failure::other(format!(
                "unexpected arguments: [{}]\nSee 'kubectl api-resources -h' for help and examples",
                self.words.join(" ")
            )));
        }
        match self.output.as_deref().unwrap_or_default() {
            "" => Ok(Shape::Rows),
            "wide" => Ok(Shape::Wide),
            "name" => Ok(Shape::Names),
            other => Err(Failure::other(format!("--output {other} is not available"))),
        }
    }

    fn order(&self) -> Result<Order, Failure> {
        match self.sort_by.as_deref().unwrap_or_default() {
            "" => Ok(Order::Group),
            "name" => Ok(Order::Name),
            "kind" => Ok(Order::Kind),
            _ => Err(Failure::other("--sort-by accepts only name or kind")),
        }
    }

    fn lists(&self, one: &ApiResource) -> bool {
        // Resources without verbs are not listed.
        !one.verbs.is_empty()
            && self.group.as_ref().is_none_or(|group| *group == one.group)
            && self.namespaced.is_none_or(|namespaced| namespaced == one.namespaced)
            && self.verbs.iter().all(|verb| one.verbs.contains(verb))
            && self.categories.iter().all(|category| one.categories.contains(category))
    }
}

fn header(shape: Shape) -> Vec<String> {
    let wide: &[&str] = if shape == Shape::Wide { &["VERBS", "CATEGORIES"] } else { &[] };
    let usual = ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"];
    usual.iter().chain(wide).map(|title| (*title).to_owned()).collect()
}

fn row(one: &ApiResource, shape: Shape) -> Vec<String> {
    let mut cells = vec![
        one.plural.clone(),
        one.short_names.join(","),
        one.api_version(),
        one.namespaced.to_string(),
        one.kind.clone(),
    ];
    if shape == Shape::Wide {
        cells.extend([one.verbs.join(","), one.categories.join(",")]);
    }
    cells
}
