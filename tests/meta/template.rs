//! The template must match the code: routes, tables, stream filters, the queue, metrics and alarms.

mod documents;

use dovetail_emulator::{mapping, queue};
use dovetail_http::{Access, FILES, Function, ROUTES, function_of};
use dovetail_table::stream::{FILTER_EVENTS, FILTER_WORK};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use support::{ApiRequest, Running, yaml};

/// The template as JSON, with `{"!Ref": "Table"}` for `!Ref Table`.
static TEMPLATE: LazyLock<Value> = LazyLock::new(|| yaml(include_str!("../../infra/template.yaml")));

/// HTTP methods of the requests below.
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"];

/// Returns the properties of a resource.
fn properties(name: &str) -> &'static Value {
    &TEMPLATE["Resources"][name]["Properties"]
}

/// Returns name and properties of each resource of a type.
fn resources(ty: &str) -> Vec<(&'static str, &'static Value)> {
    let all = TEMPLATE["Resources"].as_object().unwrap().iter();
    let of_type = all.filter(|(_, resource)| resource["Type"] == ty);
    of_type.map(|(name, resource)| (name.as_str(), &resource["Properties"])).collect()
}

/// Returns the crate of a function, which is the name of its program.
fn program(function: &Value) -> &str {
    function["CodeUri"].as_str().unwrap().strip_prefix("../target/lambda/").unwrap()
}

#[test]
fn every_function_is_deployed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../functions");
    let crates: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let functions = resources("AWS::Serverless::Function");
    let deployed: BTreeSet<String> = functions.iter().map(|(_, one)| program(one).to_owned()).collect();
    assert_eq!(deployed, crates);
    for (name, properties) in functions {
        let program = program(properties);
        assert_eq!(properties["FunctionName"], json!({"!Sub": format!("${{AWS::StackName}}-{program}")}));
        assert_eq!(properties["Role"], json!({"!GetAtt": format!("{name}Role.Arn")}));
        let variables = &properties["Environment"]["Variables"];
        // Behind API Gateway, only the authorizer names callers. Metrics have the stack as a dimension.
        assert!(variables["DOVETAIL_FRONT"].is_null(), "{name}");
        assert_eq!(variables["DOVETAIL_STACK"], json!({"!Ref": "AWS::StackName"}), "{name}");
    }
}

/// Returns whether a route of API Gateway matches a path. A greedy rest can be empty
/// (docs/adr/0013-routes-end-in-proxy.md).
fn takes(pattern: &str, path: &str) -> bool {
    let (mut expected, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (expected.next(), given.next()) {
            (None, None) | (Some("{proxy+}"), Some(_)) => return true,
            (Some(variable), Some(word)) if variable.starts_with('{') && !word.is_empty() => {}
            (Some(word), Some(other)) if word == other => {}
            (_, _) => return false,
        }
    }
}

/// Returns the integration for a request. A full path has precedence over a greedy one, then a method over `ANY`, and
/// the default comes last.
fn picked<'a>(routes: &[(&str, &'a str)], method: &str, path: &str) -> &'a str {
    let keyed = |method: &str, greedy: bool| {
        routes.iter().find(|(key, _)| {
            let Some((of, pattern)) = key.split_once(' ') else { return false };
            of == method && pattern.ends_with("{proxy+}") == greedy && takes(pattern, path)
        })
    };
    let of_path = |greedy: bool| keyed(method, greedy).or_else(|| keyed("ANY", greedy));
    let default = || routes.iter().find(|(key, _)| *key == "$default");
    of_path(false).or_else(|| of_path(true)).or_else(default).unwrap().1
}

#[test]
fn every_request_goes_to_the_function_that_answers_it() {
    let route = |(name, route): (&str, &'static Value)| {
        let target = route["Target"]["!Sub"].as_str().unwrap();
        let integration = target.strip_prefix("integrations/${").and_then(|rest| rest.strip_suffix('}'));
        let uri = properties(integration.unwrap())["IntegrationUri"]["!GetAtt"].as_str().unwrap();
        let program = program(properties(uri.strip_suffix(".Arn").unwrap()));
        let is_open = [Function::About, Function::WebConsole].map(Function::name).contains(&program);
        let authorizer = if is_open { Value::Null } else { json!({"!Ref": "Authorizer"}) };
        assert_eq!(route["AuthorizationType"], if is_open { "NONE" } else { "CUSTOM" }, "{name}");
        assert_eq!(route["AuthorizerId"], authorizer, "{name}");
        (route["RouteKey"].as_str().unwrap(), program)
    };
    let routes: Vec<(&str, &str)> = resources("AWS::ApiGatewayV2::Route").into_iter().map(route).collect();
    for (key, _) in &routes {
        assert!(!key.ends_with('/') || *key == "ANY /", "API Gateway takes {key}");
    }
    for route in ROUTES {
        for side in ["serviceowner", "consumer"] {
            let path = route.path.replace("{pov}", side).replace("{id}", "54").replace("{code}", "blocked");
            for (path, method) in
                [path.clone(), format!("{path}/")].iter().flat_map(|path| METHODS.map(|of| (path, of)))
            {
                let function = picked(&routes, method, path);
                if route.methods.contains(&method) || (method == "HEAD" && route.methods.contains(&"GET")) {
                    assert_eq!(function, function_of(method, path).name(), "{method} {path}");
                }
            }
        }
    }
    for file in FILES {
        for method in ["GET", "HEAD"] {
            assert_eq!(picked(&routes, method, file.path), Function::WebConsole.name(), "{}", file.path);
        }
    }
    assert_eq!(picked(&routes, "GET", "/v1/anything"), Function::List.name());
}

#[test]
fn each_rate_of_a_route_belongs_to_a_route_that_exists_before() {
    let stage = &TEMPLATE["Resources"]["Stage"];
    let routes = resources("AWS::ApiGatewayV2::Route");
    let depends_on = stage["DependsOn"].as_array().unwrap().iter();
    let depends_on: BTreeSet<&str> = depends_on.map(|name| name.as_str().unwrap()).collect();
    let settings = stage["Properties"]["RouteSettings"].as_object().unwrap();
    let limited =
        routes.iter().filter(|(_, route)| settings.contains_key(route["RouteKey"].as_str().unwrap()));
    assert_eq!(limited.map(|(name, _)| *name).collect::<BTreeSet<_>>(), depends_on);
    assert_eq!(settings.len(), depends_on.len(), "each rate has a route");
    for (key, setting) in settings {
        // The settings of a route replace the default ones, also those of its metrics.
        assert_eq!(setting["DetailedMetricsEnabled"], true, "{key}");
        let rate = setting["ThrottlingRateLimit"]["!Ref"].as_str().unwrap();
        let burst = setting["ThrottlingBurstLimit"]["!Ref"].as_str().unwrap();
        assert_eq!(rate.strip_suffix("PerSecond"), burst.strip_suffix("Burst"), "{key}");
        let function = match rate {
            "SubmissionsPerSecond" => Function::Submit,
            "DecisionsPerSecond" => Function::UpdateState,
            "ListsPerSecond" => Function::List,
            other => panic!("{key}: {other}"),
        };
        let route = routes.iter().find(|(_, route)| route["RouteKey"] == **key).unwrap();
        let target = format!("integrations/${{{}Integration}}", resource_of(function));
        assert_eq!(route.1["Target"]["!Sub"], target, "{key}");
    }
}

/// Returns the name of a function in the template.
fn resource_of(function: Function) -> &'static str {
    let functions = resources("AWS::Serverless::Function");
    functions.into_iter().find(|(_, properties)| program(properties) == function.name()).unwrap().0
}

#[test]
fn every_function_behind_the_authorizer_limits_the_requests_of_a_team() {
    for function in ROUTES.iter().filter(|route| route.access != Access::Anyone).map(|route| route.function) {
        let variables = &properties(resource_of(function))["Environment"]["Variables"];
        for (variable, parameter) in [
            ("DOVETAIL_TEAM_REQUESTS_PER_SECOND", "TeamRequestsPerSecond"),
            ("DOVETAIL_TEAM_REQUESTS_BURST", "TeamRequestsBurst"),
        ] {
            assert_eq!(variables[variable], json!({"!Ref": parameter}), "{}", function.name());
        }
    }
}

#[test]
fn the_level_of_logs_drops_no_metric() {
    // Lambda gives a line without a level the level INFO, so a higher application level would drop metrics.
    for (name, properties) in resources("AWS::Serverless::Function") {
        assert!(properties["LoggingConfig"]["ApplicationLogLevel"].is_null(), "{name}");
    }
    for name in ["Generate", "Notify", "Deliver", "Sweep"] {
        let level = &properties(name)["LoggingConfig"]["SystemLogLevel"];
        assert_eq!(*level, json!({"!Ref": "StreamSystemLogs"}), "{name}");
    }
}

#[test]
fn the_tables_are_those_that_are_created() {
    let system = Running::demo();
    for (resource, name) in [("Table", &system.tables.table), ("KeysTable", &system.tables.keys_table)] {
        let properties = properties(resource);
        let created = system.engine("DynamoDB_20120810.DescribeTable", &json!({"TableName": name}));
        let created = &created["Table"];
        assert_eq!(properties["KeySchema"], created["KeySchema"], "{resource}");
        assert_eq!(sorted(&properties["AttributeDefinitions"]), sorted(&created["AttributeDefinitions"]));
        let indexes = |table: &Value| -> BTreeSet<String> {
            let indexes = table["GlobalSecondaryIndexes"].as_array().into_iter().flatten();
            let shape = |index: &Value| {
                let projection = &index["Projection"]["ProjectionType"];
                json!([index["IndexName"], index["KeySchema"], projection]).to_string()
            };
            indexes.map(shape).collect()
        };
        assert_eq!(indexes(properties), indexes(created), "{resource}");
        let stream = &created["StreamSpecification"]["StreamViewType"];
        assert_eq!(properties["StreamSpecification"]["StreamViewType"], *stream, "{resource}");
        for policy in ["DeletionPolicy", "UpdateReplacePolicy"] {
            assert_eq!(TEMPLATE["Resources"][resource][policy], "Retain", "{resource}");
        }
        assert_eq!(properties["DeletionProtectionEnabled"], true);
        assert_eq!(properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], true);
    }
}

fn sorted(array: &Value) -> BTreeSet<String> {
    array.as_array().unwrap().iter().map(Value::to_string).collect()
}

#[test]
fn expiring_records_have_the_attribute_of_the_tables_time_to_live() {
    let system = Running::demo();
    let body = json!({"AwesomeConsumer": {"App": {"services": {}}}});
    let path = "/v1/orcabase/consumer/submissions/submit/";
    let request = ApiRequest::with_key("POST", path, "awesome-key", &body);
    system.send(&ApiRequest { headers: &[("idempotency-key", "once")], ..request }).expect_status(201);
    let live = &properties("Table")["TimeToLiveSpecification"];
    assert_eq!(live["Enabled"], true);
    let name = live["AttributeName"].as_str().unwrap();
    let forgotten: Vec<Value> = system.rows().into_iter().filter(|row| !row[name].is_null()).collect();
    assert_eq!(forgotten.len(), 1, "{forgotten:?}");
    assert!(forgotten[0]["sk"]["S"].as_str().is_some_and(|sk| sk.contains("once")), "{forgotten:?}");
}

#[test]
fn the_stream_mappings_of_the_template_match_the_local_ones() {
    let mapped = |name: &str, settings: &mapping::Settings, filter: &str| {
        let properties = properties(name);
        let number = |name: &str| properties[name].as_u64().unwrap();
        assert_eq!(number("BatchSize"), u64::try_from(settings.batch_size).unwrap());
        assert_eq!(number("ParallelizationFactor"), u64::try_from(settings.lanes).unwrap());
        assert_eq!(number("MaximumBatchingWindowInSeconds"), settings.batch_window.as_secs());
        assert_eq!(number("MaximumRetryAttempts"), u64::from(settings.policy.retries));
        assert_eq!(number("MaximumRecordAgeInSeconds"), settings.policy.record_age.as_secs());
        assert_eq!(properties["BisectBatchOnFunctionError"], settings.policy.bisect);
        assert_eq!(properties["FunctionResponseTypes"], json!(["ReportBatchItemFailures"]));
        // A later position would skip the records from before the mapping.
        assert_eq!(properties["StartingPosition"], "TRIM_HORIZON");
        let filters = properties["FilterCriteria"]["Filters"].as_array().unwrap();
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let patterns: Vec<Value> =
            filters.iter().map(|one| parsed(one["Pattern"].as_str().unwrap())).collect();
        assert_eq!(patterns, [parsed(filter)]);
    };
    mapped("GenerateMapping", &mapping::GENERATE, FILTER_WORK);
    mapped("NotifyMapping", &mapping::NOTIFY, FILTER_EVENTS);
}

#[test]
fn the_queue_of_the_template_matches_the_local_one() {
    let [rule, mapping, deliveries] = ["ToldToWebhooks", "DeliverMapping", "Deliveries"].map(properties);
    assert_eq!(rule["EventPattern"], serde_json::from_str::<Value>(queue::PATTERN).unwrap());
    assert_eq!(rule["State"], json!({"!If": ["DeliversWebhooks", "ENABLED", "DISABLED"]}));
    assert_eq!(mapping["BatchSize"], queue::BATCH_SIZE);
    assert_eq!(mapping["FunctionResponseTypes"], json!(["ReportBatchItemFailures"]));
    assert_eq!(mapping["ScalingConfig"]["MaximumConcurrency"], queue::CONCURRENCY);
    assert_eq!(deliveries["RedrivePolicy"]["maxReceiveCount"], queue::RECEIVES_MAX);
    let visibility = deliveries["VisibilityTimeout"].as_u64().unwrap();
    assert_eq!(visibility, queue::VISIBILITY.as_secs());
    // Lambda asks for a visibility timeout of six function timeouts. A receiver may use all of its own timeout.
    let timeout = properties("Deliver")["Timeout"].as_u64().unwrap();
    assert!(timeout * 6 <= visibility && timeout >= domain::outreach::webhook::TIMEOUT_SECONDS_MAX + 20);
}

#[test]
fn alarms_watch_existing_metrics() {
    let swept_metrics = sweep::metrics(&sweep::Swept::default());
    let watched = resources("AWS::CloudWatch::Alarm");
    let ours: Vec<_> = watched.iter().filter(|(_, alarm)| alarm["Namespace"] == "Dovetail").collect();
    assert!(!ours.is_empty());
    for (name, alarm) in ours {
        let metric = alarm["MetricName"].as_str().unwrap();
        assert!(swept_metrics.contains_key(metric), "{name}: the sweep reports {metric}");
        assert_eq!(alarm["Dimensions"], json!([{"Name": "Stack", "Value": {"!Ref": "AWS::StackName"}}]));
    }
    // Ten alarms are free, and an idle stack must not cost anything. The others are for operators who pay for them.
    let is_free = |name: &str| TEMPLATE["Resources"][name]["Condition"].is_null();
    assert!(watched.iter().filter(|(name, _)| is_free(name)).count() <= 10);
    let tables = resources("AWS::DynamoDB::Table");
    let indexes = tables.iter().filter_map(|(_, table)| table["GlobalSecondaryIndexes"].as_array()).flatten();
    let indexes: BTreeSet<&str> = indexes.map(|index| index["IndexName"].as_str().unwrap()).collect();
    let dimensions = watched.iter().filter_map(|(_, alarm)| alarm["Dimensions"].as_array()).flatten();
    let of_indexes = dimensions.filter(|dimension| dimension["Name"] == "GlobalSecondaryIndexName");
    assert_eq!(of_indexes.map(|one| one["Value"].as_str().unwrap()).collect::<BTreeSet<_>>(), indexes);
    // Each alarm has a section of instructions.
    let lines = include_str!("../../docs/how-to/alarms.md").lines();
    let sections: BTreeSet<&str> = lines.filter_map(|line| line.strip_prefix("### ")).collect();
    assert_eq!(sections, watched.iter().map(|(name, _)| *name).collect());
}
