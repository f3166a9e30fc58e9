//! Explanations of a small type, laid out as kubectl 1.32 lays them out.

use super::*;
use gantry_json::json;

fn document() -> Value {
    json!({"components": {"schemas": {
        "io.shop.v1.Cart": {
            "description": "What a customer wants to buy, and everything else that one could say of it at some length.",
            "type": "object", "required": ["items"],
            "x-kubernetes-group-version-kind": [{"group": "shop", "version": "v1", "kind": "Cart"}],
            "properties": {
                "items": {"description": "The things.", "type": "array", "items": {"$ref": "#/components/schemas/io.shop.v1.Thing"}},
                "state": {"type": "string", "enum": ["", "a", "b", "c", "d"]},
                "limits": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/io.shop.Quantity"}},
                "within": {"allOf": [{"$ref": "#/components/schemas/io.shop.v1.Cart"}]}}},
        "io.shop.v1.Thing": {"description": "One thing.", "type": "object",
            "properties": {"name": {"type": "string"}, "size": {"$ref": "#/components/schemas/io.shop.IntOrString"}}},
        "io.shop.IntOrString": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
        "io.shop.Quantity": {"type": "string"}}}})
}

fn options(path: &str, recursive: bool, layout: Layout) -> Explanation {
    let path: Vec<String> = path.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let query = ExplainQuery { group: "shop", version: "v1", kind: "Cart", path: &path, recursive };
    explain(&document(), query, layout)
}

const HEADING: &str = "GROUP:      shop\nKIND:       Cart\nVERSION:    v1\n\n";

/// K0.1: a whole type, with its fields in the order of their names.
#[test]
fn a_type_is_explained_with_its_fields() {
    let rendered = options("", false, Layout::Plaintext).text;
    let expected = "DESCRIPTION:\n    What a customer wants to buy, and everything else that one could say of it\n    \
        at some length.\n    \nFIELDS:\n  items\t<[]Thing> -required-\n    The things.\n\n  \
        limits\t<map[string]string>\n    <no description>\n\n  \
        state\t<string>\n  enum: \"\", a, b, c, ....\n    <no description>\n\n  within\t<Cart>\n    <no description>\n\n\n";
    assert_eq!(rendered, format!("{HEADING}{expected}"));
}

#[test]
fn a_field_is_explained_through_lists_and_names_its_values() {
    let rendered = options("items", false, Layout::Plaintext).text;
    assert!(
        rendered.starts_with(&format!("{HEADING}FIELD: items <[]Thing>\n\n\nDESCRIPTION:\n    The things.\n    One thing.\n    \nFIELDS:\n")),
        "{rendered}"
    );
    let rendered = options("state", false, Layout::Plaintext).text;
    let values =
        "FIELD: state <string>\nENUM:\n    \"\"\n    a\n    b\n    c\n    d\n\nDESCRIPTION:\n    <empty>\n\n";
    assert_eq!(rendered, format!("{HEADING}{values}"));
    assert!(options("within.within.items.name", false, Layout::Plaintext).failure.is_none());
}

#[test]
fn fields_below_are_named_and_a_cycle_ends() {
    let rendered = options("", true, Layout::Plaintext).text;
    let fields = rendered.split_once("FIELDS:\n").unwrap().1;
    let below = "  items\t<[]Thing> -required-\n    name\t<string>\n    size\t<IntOrString>\n";
    assert!(fields.starts_with(below), "{fields}");
    assert_eq!(fields.matches("within\t<Cart>").count(), 2, "{fields}");
}

/// K0.3: a field that does not exist is an error below the heading.
#[test]
fn a_field_that_does_not_exist_is_an_error() {
    let rendered = options("items.nope", false, Layout::Plaintext);
    assert_eq!(rendered.text, HEADING);
    assert_eq!(rendered.failure.unwrap().lines(), "error: field \"nope\" does not exist\n");
    assert_eq!(options("nope", false, Layout::PlaintextOpenApiV2).text, "");
}

#[test]
fn the_older_layout_has_plainer_types() {
    let rendered = options("items", false, Layout::PlaintextOpenApiV2).text;
    assert_eq!(
        rendered,
        "KIND:     Cart\nVERSION:  shop/v1\n\nRESOURCE: items <[]Object>\n\nDESCRIPTION:\n     The things.\n\n     One thing.\n\n\
         FIELDS:\n   name\t<string>\n\n   size\t<string>\n\n"
    );
    let rendered = options("state", false, Layout::PlaintextOpenApiV2).text;
    assert!(rendered.ends_with("FIELD:    state <string>\n\nDESCRIPTION:\n     <empty>\n"), "{rendered}");
}
