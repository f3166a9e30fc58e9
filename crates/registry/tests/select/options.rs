//! The options of lists and watches.

use gantry_json::json;
use gantry_primitives::Refusal;
use gantry_registry::paging::{
    Continue, ListOptions, ListPlan, Rest, WatchPlan, expired_list, expired_page, expired_watch, get_version,
    integer, too_large,
};
use gantry_registry::selector::Selectable;

use crate::recording::{Exchange, recorded};

fn options(query: &[(&str, &str)]) -> Result<ListOptions, Refusal> {
    ListOptions::read(query, Selectable::of("coordination.k8s.io", "Lease"))
}

fn list(query: &[(&str, &str)]) -> ListPlan {
    options(query).unwrap().list_plan().unwrap()
}

fn watch(query: &[(&str, &str)]) -> WatchPlan {
    let query = [query, &[("watch", "1")]].concat();
    options(&query).unwrap().watch_plan().unwrap()
}

/// Parses the options of a recorded request and makes the plan.
fn parse(exchange: &mut Exchange) -> Result<(), Refusal> {
    for (_, value) in &mut exchange.query {
        if value == "<continue>" {
            *value = Continue::after(7, "/NS/a").encode();
        }
    }
    let options = ListOptions::read(&exchange.query, Selectable::of("coordination.k8s.io", "Lease"))?;
    if options.watch { options.watch_plan().map(drop) } else { options.list_plan().map(drop) }
}

/// A4.3, A4.4, A4.13: invalid options are refused with the recorded Status, and valid ones are accepted.
#[test]
fn recorded_options_are_validated_as_recorded() {
    let all = [
        recorded!("lists.version_errors"),
        recorded!("lists.paging_errors"),
        recorded!("watches.option_errors"),
    ];
    for mut exchange in all.into_iter().flatten() {
        match parse(&mut exchange) {
            Ok(()) => assert_eq!(exchange.status, 200, "{:?}", exchange.query),
            Err(refusal) => {
                let mut status = refusal.status();
                let message = refusal.message.split_once("continue key is not valid: ");
                if let Some((before, _)) = message {
                    status["message"] = format!("{before}continue key is not valid: <words>").into();
                }
                assert_eq!(status, exchange.body, "{:?}", exchange.query);
            }
        }
    }
}

/// A4.5: a get has other messages than a list.
#[test]
fn a_get_accepts_a_version() {
    let recorded = recorded!("lists.get_with_version");
    let refused = recorded.last().unwrap();
    assert_eq!(get_version(refused.parameter("resourceVersion")).unwrap_err().status(), refused.body);
    assert_eq!((get_version("").unwrap(), get_version("0").unwrap(), get_version("12").unwrap()), (0, 0, 12));
}

/// A4.2: a version that the store does not reach in time.
#[test]
fn a_future_version_times_out() {
    for exchange in recorded!("lists.version_in_the_future") {
        if exchange.status == 504 {
            let mut status = too_large(999_999_999_999, 333).status();
            assert_eq!(status["message"], "Timeout: Too large resource version: 999999999999, current: 333");
            status["message"] = exchange.body["message"].clone();
            assert_eq!(status, exchange.body);
        }
    }
}

/// A4.2: the state that a list returns.
#[test]
fn a_list_shows_the_requested_state() {
    let version = ("resourceVersion", "12");
    assert_eq!(list(&[]), ListPlan::Latest);
    assert_eq!(list(&[("limit", "5")]), ListPlan::Latest);
    assert_eq!(list(&[("resourceVersion", "0")]), ListPlan::AtLeast(0));
    assert_eq!(list(&[("resourceVersion", "0"), ("limit", "5")]), ListPlan::AtLeast(0));
    assert_eq!(list(&[version]), ListPlan::AtLeast(12));
    assert_eq!(list(&[version, ("limit", "5")]), ListPlan::Exactly(12));
    assert_eq!(
        list(&[version, ("limit", "5"), ("resourceVersionMatch", "NotOlderThan")]),
        ListPlan::AtLeast(12)
    );
    assert_eq!(list(&[version, ("resourceVersionMatch", "Exact")]), ListPlan::Exactly(12));
}

/// A4.4: the next page, and a page of a compacted version.
#[test]
fn a_page_continues_after_the_last_one() {
    let page = Continue::after(12, "/NS/b");
    let token = page.encode();
    assert_eq!(list(&[("continue", &token), ("limit", "2")]), ListPlan::Continue(page.clone()));
    let refusal = expired_page(&page);
    assert_eq!((refusal.reason.code(), refusal.reason.name()), (410, "Expired"));
    assert!(
        refusal.message.starts_with("The provided continue parameter is too old to display a consistent")
    );
    let status = refusal.status();
    let fresh = status["metadata"]["continue"].as_str().unwrap();
    assert_eq!(status.get("details"), None);
    assert_eq!(
        list(&[("continue", fresh)]),
        ListPlan::Continue(Continue { version: None, start: "/NS/b\0".to_owned() })
    );
}

/// A4.2, A4.4: the metadata of a page; with selectors it has no number of remaining objects.
#[test]
fn a_page_has_the_number_of_remaining_objects() {
    let rest = Rest { next: Continue::after(12, "/NS/b"), remaining: 3 };
    let metadata = |query: &[(&str, &str)], rest| options(query).unwrap().metadata(12, rest);
    assert_eq!(metadata(&[], None), json!({"resourceVersion": "12"}));
    let token = rest.next.encode();
    let counted = json!({"resourceVersion": "12", "continue": token, "remainingItemCount": 3});
    assert_eq!(metadata(&[("limit", "2")], Some(&rest)), counted);
    let selected = json!({"resourceVersion": "12", "continue": token});
    assert_eq!(metadata(&[("limit", "2"), ("labelSelector", "app=web")], Some(&rest)), selected);
    assert_eq!(metadata(&[("limit", "2"), ("fieldSelector", "metadata.name!=b")], Some(&rest)), selected);
}

/// A4.1, A4.2: lists without a limit, and lists of any state, are not paged.
#[test]
fn lists_are_paged_only_with_a_limit() {
    let size = |query: &[(&str, &str)]| options(query).unwrap().page_size().map(u64::from);
    assert_eq!(size(&[("limit", "2")]), Some(2));
    assert_eq!(size(&[("limit", "2"), ("limit", "9")]), Some(2));
    assert_eq!((size(&[]), size(&[("limit", "0")]), size(&[("limit", "-1")])), (None, None, None));
    assert_eq!(size(&[("limit", "2"), ("resourceVersion", "0")]), None);
    let token = Continue::after(12, "/NS/b").encode();
    assert_eq!(size(&[("limit", "2"), ("resourceVersion", "0"), ("continue", &token)]), Some(2));
}

/// A4.11, A4.13: where a watch starts.
#[test]
fn a_watch_begins_at_the_requested_version() {
    let version = ("resourceVersion", "12");
    let matching = ("resourceVersionMatch", "NotOlderThan");
    let initial = |at_least, end_bookmark| WatchPlan::Initial { at_least, end_bookmark };
    assert_eq!(watch(&[]), initial(0, false));
    assert_eq!(watch(&[("resourceVersion", "0"), ("allowWatchBookmarks", "true")]), initial(0, true));
    assert_eq!(watch(&[version]), WatchPlan::After(12));
    assert_eq!(watch(&[version, matching, ("sendInitialEvents", "false")]), WatchPlan::After(12));
    assert_eq!(watch(&[matching, ("sendInitialEvents", "false")]), WatchPlan::FromNow);
    assert_eq!(watch(&[version, matching, ("sendInitialEvents", "true")]), initial(12, false));
    let all = [version, matching, ("sendInitialEvents", ""), ("allowWatchBookmarks", "1")];
    assert_eq!(watch(&all), initial(12, true));
}

/// A4.2, A4.12: errors about compacted versions.
#[test]
fn compacted_versions_are_expired() {
    assert_eq!(expired_list().message, "The resourceVersion for the provided list is too old.");
    let status = expired_watch(1, 223).status();
    assert_eq!(
        (&status["message"], &status["code"]),
        (&"too old resource version: 1 (223)".into(), &410.into())
    );
    assert_eq!((&status["reason"], status.get("details")), (&"Expired".into(), None));
}

/// A0.9: booleans and integers of a query.
#[test]
fn booleans_of_a_query_are_parsed_as_by_kubernetes() {
    let watched = |value| options(&[("watch", value)]).unwrap().watch;
    assert!(watched("True") && watched("1") && watched("") && watched("no"));
    assert!(!watched("false") && !watched("FALSE") && !watched("0"));
    assert!(!options(&[]).unwrap().watch);
    let refused = |text| integer(text).unwrap_err().message;
    assert_eq!(refused("abc"), r#"strconv.ParseInt: parsing "abc": invalid syntax"#);
    assert_eq!(refused(""), r#"strconv.ParseInt: parsing "": invalid syntax"#);
    assert_eq!(
        refused("9223372036854775808"),
        r#"strconv.ParseInt: parsing "9223372036854775808": value out of range"#
    );
    assert_eq!(options(&[("limit", "x")]).unwrap_err().reason.code(), 400);
    assert_eq!(options(&[("timeoutSeconds", "30")]).unwrap().timeout_seconds, Some(30));
}

/// A4.3: a version has no sign.
#[test]
fn a_version_has_no_sign() {
    assert!(options(&[("resourceVersion", "+1")]).unwrap().list_plan().is_err());
    let huge = options(&[("resourceVersion", "18446744073709551616")]).unwrap().list_plan().unwrap_err();
    assert!(huge.message.ends_with("value out of range"), "{huge}");
}
