//! The pages for operators, compared with the template and the code.

use super::{TEMPLATE, resources};
use dovetail_aws::Observed;
use dovetail_daemon::arguments::command_line;
use dovetail_daemon::option::EXIT_CODES;
use expect_test::expect_file;
use regex::Regex;
use repository::{files, read, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const OPERATOR: &str = include_str!("../../../docs/how-to/operator.md");
const POLICY: &str = include_str!("../../../docs/how-to/deployer-policy.json");
const CONFIGURATION: &str = include_str!("../../../docs/reference/configuration.md");
const METRICS: &str = include_str!("../../../docs/reference/metrics.md");
const BEGIN: &str = "<!-- resources -->\n";
const END: &str = "<!-- /resources -->";

/// IAM's limit for a managed policy, in characters without white space.
const POLICY_CHARACTERS_MAX: usize = 6_144;

/// The resource types of the template, each with its purpose and the IAM actions with which CloudFormation creates,
/// updates and deletes it ([`actions`]). Retained resources have no deletion.
const TYPES: &str = "
- AWS::ApiGatewayV2::Api: the HTTP API
  apigateway DELETE GET PATCH POST PUT
- AWS::ApiGatewayV2::Authorizer: calls `authorize` for each key or token
  apigateway DELETE GET PATCH POST
- AWS::ApiGatewayV2::Integration: one per function of the API
  apigateway DELETE GET PATCH POST
- AWS::ApiGatewayV2::Route: methods and paths of each function
  apigateway DELETE GET PATCH POST
- AWS::ApiGatewayV2::Stage: throttling, metrics and access log
  apigateway DELETE GET PATCH POST logs CreateLogDelivery DeleteLogDelivery DescribeLogGroups DescribeResourcePolicies
  GetLogDelivery ListLogDeliveries PutResourcePolicy UpdateLogDelivery
- AWS::CloudWatch::Alarm: [alarms](alarms.md), four of them with `LoadAlarms=yes`
  cloudwatch DeleteAlarms DescribeAlarms ListTagsForResource PutMetricAlarm TagResource
- AWS::CloudWatch::Dashboard: requests, latency, work, delay, units, errors
  cloudwatch DeleteDashboards GetDashboard PutDashboard
- AWS::DynamoDB::Table: the table and the keys table; remain after a removal
  dynamodb CreateTable DescribeContinuousBackups DescribeContributorInsights DescribeKinesisStreamingDestination
  DescribeTable DescribeTimeToLive GetResourcePolicy ListTagsOfResource TagResource UpdateContinuousBackups
  UpdateTable UpdateTimeToLive
- AWS::Events::Archive: events for a replay, unless `EventDays` is 0
  events CreateArchive DeleteArchive DescribeArchive UpdateArchive
- AWS::Events::EventBus: the events of Dovetail
  events CreateEventBus DeleteEventBus DescribeEventBus ListTagsForResource TagResource UpdateEventBus
- AWS::Events::Rule: two schedules of `sweep`, webhooks, the example queue
  events DeleteRule DescribeRule ListTagsForResource ListTargetsByRule PutRule PutTargets RemoveTargets TagResource
- AWS::IAM::Policy: X-Ray, with `Tracing=Active`
  iam DeleteRolePolicy GetRolePolicy PutRolePolicy
- AWS::IAM::Role: one per function
  iam CreateRole DeleteRole DeleteRolePolicy GetRole GetRolePolicy ListAttachedRolePolicies ListRolePolicies
  PutRolePolicy TagRole UpdateAssumeRolePolicy UpdateRole
- AWS::Lambda::EventSourceMapping: the stream to `generate` and `notify`, the queue to `deliver`
  lambda CreateEventSourceMapping DeleteEventSourceMapping GetEventSourceMapping UpdateEventSourceMapping
- AWS::Lambda::Permission: API Gateway and schedules may invoke functions
  lambda AddPermission GetPolicy RemovePermission
- AWS::Logs::LogGroup: one per function, and the access log
  logs CreateLogGroup DeleteLogGroup DeleteRetentionPolicy DescribeLogGroups ListTagsForResource PutRetentionPolicy
  TagResource
- AWS::S3::Bucket: failed records of the stream; remains after a removal
  s3 CreateBucket GetBucketOwnershipControls GetBucketPublicAccessBlock GetBucketVersioning GetEncryptionConfiguration
  GetLifecycleConfiguration PutBucketOwnershipControls PutBucketPublicAccessBlock PutBucketVersioning
  PutEncryptionConfiguration PutLifecycleConfiguration
- AWS::S3::BucketPolicy: requires TLS
  s3 DeleteBucketPolicy GetBucketPolicy PutBucketPolicy
- AWS::SQS::Queue: deliveries, failed deliveries, the example queue
  sqs CreateQueue DeleteQueue GetQueueAttributes GetQueueUrl ListQueueTags SetQueueAttributes TagQueue
- AWS::SQS::QueuePolicy: the bus may send to the queues
  sqs GetQueueAttributes SetQueueAttributes
- AWS::Serverless::Function: the functions
  iam PassRole lambda CreateFunction DeleteFunction DeleteFunctionEventInvokeConfig GetFunction
  GetFunctionCodeSigningConfig GetFunctionEventInvokeConfig GetFunctionRecursionConfig GetRuntimeManagementConfig
  ListTags PutFunctionEventInvokeConfig TagResource UntagResource UpdateFunctionCode UpdateFunctionConfiguration
  UpdateFunctionEventInvokeConfig s3 GetObject";

/// Returns name, purpose and actions of each resource type.
fn types() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    TYPES.split("\n- ").skip(1).map(|row| {
        let (head, actions) = row.split_once('\n').unwrap();
        let (name, purpose) = head.split_once(": ").unwrap();
        (name, purpose, actions)
    })
}

/// The IAM actions of `sam deploy` and `sam delete`, with their bucket for packages.
const SAM: &str = "cloudformation CreateChangeSet DeleteStack DescribeChangeSet DescribeStackEvents \
     DescribeStackResources DescribeStacks ExecuteChangeSet GetTemplate GetTemplateSummary s3 \
     DeleteObject GetBucketLocation GetObject ListBucket PutBucketTagging PutObject";

/// Returns the actions in a text with services in lower case, each before its actions: `sqs CreateQueue TagQueue`.
fn actions(text: &str) -> impl Iterator<Item = String> {
    let mut service = "";
    text.split_whitespace().filter_map(move |word| {
        if word.starts_with(|c: char| c.is_ascii_lowercase()) {
            service = word;
            return None;
        }
        Some(format!("{service}:{word}"))
    })
}

#[test]
fn the_page_for_operators_lists_the_resources() {
    let all = TEMPLATE["Resources"].as_object().unwrap().values();
    let used = all.map(|one| one["Type"].as_str().unwrap());
    assert_eq!(used.collect::<BTreeSet<_>>(), types().map(|(name, ..)| name).collect());
    let mut table = "| Resource type | Count | Purpose |\n|---|---:|---|\n".to_owned();
    for (name, purpose, _) in types() {
        writeln!(table, "| `{name}` | {} | {purpose} |", resources(name).len()).unwrap();
    }
    let (before, rest) = OPERATOR.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    expect_file!["../../../docs/how-to/operator.md"]
        .assert_eq(&format!("{before}{BEGIN}{table}{END}{after}"));
}

#[test]
fn the_policy_of_the_deployer_has_the_needed_actions_only() {
    let policy: Value = serde_json::from_str(POLICY).unwrap();
    let statements = policy["Statement"].as_array().unwrap().iter();
    let listed = statements.flat_map(|one| one["Action"].as_array().unwrap());
    let allowed: BTreeSet<String> = listed.map(|action| action.as_str().unwrap().to_owned()).collect();
    let needed = types().flat_map(|(.., text)| actions(text)).chain(actions(SAM));
    assert_eq!(allowed, needed.collect());
    assert!(!allowed.iter().any(|action| action.contains('*')));
    assert!(policy.to_string().len() <= POLICY_CHARACTERS_MAX);
}

#[test]
fn the_page_of_configuration_has_every_parameter_with_its_default() {
    for (name, parameter) in TEMPLATE["Parameters"].as_object().unwrap() {
        let row = format!("| `{name}` | ");
        let (_, row) = CONFIGURATION.split_once(&row).unwrap_or_else(|| panic!("the page lacks {name}"));
        let default = &parameter["Default"];
        let value = default.as_str().map_or_else(|| default.to_string(), |text| format!("`{text}`"));
        // Without a default, or with an empty one, the page says so in words.
        let is_in_words = default.is_null() || default == "";
        assert!(is_in_words || row.starts_with(&format!("{value} |")), "{name}");
    }
}

#[test]
fn the_page_of_configuration_has_every_option_and_variable() {
    let option = Regex::new("--[a-z][a-z-]*").unwrap();
    let options = |text| option.find_iter(text).map(|one| one.as_str().to_owned()).collect::<BTreeSet<_>>();
    let mut program = command_line();
    program.build();
    let commands = program.get_subcommands_mut().map(|command| command.render_help().to_string());
    let commands: String = commands.collect();
    assert_eq!(options(CONFIGURATION), options(&format!("{commands}{}", program.render_help())));
    let quoted = Regex::new(r#""(DOVETAIL_[A-Z_]*[A-Z])""#).unwrap();
    let sources = ["functions", "infra"].iter().flat_map(|folder| files(&root().join(folder), ".rs"));
    let sources: String = sources.map(|path| read(&path)).collect();
    let variables: BTreeSet<&str> =
        quoted.captures_iter(&sources).map(|one| one.get(1).unwrap().as_str()).collect();
    let named = Regex::new("`(DOVETAIL_[A-Z_]+)`").unwrap();
    let listed = named.captures_iter(CONFIGURATION).map(|one| one.get(1).unwrap().as_str());
    assert_eq!(listed.collect::<BTreeSet<_>>(), variables);
}

#[test]
fn the_page_of_configuration_has_every_exit_code() {
    for line in EXIT_CODES.lines().skip(1) {
        let (code, meaning) = line.trim().split_once(' ').unwrap();
        let row = format!("| {code} | {} |", meaning.trim());
        assert!(CONFIGURATION.contains(&row), "{row}");
    }
}

#[test]
fn the_page_of_metrics_has_the_metrics_of_requests_and_of_the_sweep() {
    let request = Observed::default().figures().map(|(name, _)| name.to_owned());
    let sweep = sweep::metrics(&sweep::Swept::default());
    let sweep = sweep.keys().filter(|name| !matches!(name.as_str(), "_aws" | "Stack")).cloned();
    for metric in sweep.chain(request) {
        assert!(METRICS.contains(&format!("`{metric}`")), "{metric}");
    }
}
