package main

import (
	"encoding/json"
	"time"
)

// Types of the public Go client: names and JSON types of the fields that it reads.

type page[T any] struct {
	Count    int     `json:"count"`
	Next     *string `json:"next" is:"url"`
	Previous *string `json:"previous" is:"url"`
	Results  []T     `json:"results"`
}

type team struct {
	ID       int             `json:"id"`
	Name     string          `json:"name"`
	Metadata json.RawMessage `json:"metadata" is:"object"`
}

type ref struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

type changeInstance struct {
	ID               int                   `json:"id"`
	URL              string                `json:"url" is:"url"`
	State            string                `json:"state" is:"one=PENDING|APPROVED|REJECTED|ERRORED|COMPLETED|CLOSED"`
	Created          time.Time             `json:"created"`
	Modified         time.Time             `json:"modified"`
	ChangeType       string                `json:"change_type" is:"one=CREATE|MODIFY|DELETE"`
	Log              string                `json:"log"`
	Owner            team                  `json:"owner" is:"only=id|name"`
	ServiceItem      serviceItem           `json:"service_item" is:"only=id|url|name|runtime_state|declaration|deployed_item"`
	Submission       submissionRef         `json:"submission"`
	NewDeclaration   version               `json:"new_declaration" is:"null"`
	OldDeclaration   *version              `json:"old_declaration"`
	ServiceOwnerTeam team                  `json:"service_owner_team"`
	ConsumerTeam     team                  `json:"consumer_team"`
	Service          changeInstanceService `json:"service"`
	Application      applicationOfItem     `json:"application" is:"only=id|name|metadata"`
	IsDependant      bool                  `json:"is_dependant"`
}

type submissionRef struct {
	ID       int    `json:"id"`
	CommitID string `json:"commit_id" is:"null"`
}

type version struct {
	Version     int             `json:"version"`
	Declaration json.RawMessage `json:"declaration" is:"object"`
}

type changeInstanceService struct {
	ID                    int    `json:"id"`
	Name                  string `json:"name"`
	AllowManualApproval   bool   `json:"allow_manual_approval"`
	AllowManualCompletion bool   `json:"allow_manual_completion"`
}

type serviceItem struct {
	ID                        int               `json:"id"`
	URL                       string            `json:"url" is:"url"`
	Name                      string            `json:"name"`
	Created                   time.Time         `json:"created"`
	Modified                  time.Time         `json:"modified"`
	RuntimeState              string            `json:"runtime_state" is:"one=REQUESTED|IN_SERVICE|DECOMMISSIONED"`
	Service                   serviceOfItem     `json:"service"`
	Application               applicationOfItem `json:"application"`
	Related                   *string           `json:"related"`
	ServiceOwnerTeam          team              `json:"service_owner_team" is:"only=id|name"`
	ConsumerTeam              team              `json:"consumer_team"`
	ChangeState               string            `json:"change_state" is:"one=CHANGES_PENDING|CHANGES_APPROVED|CHANGES_REJECTED|CHANGES_ERRORED|ALL_CHANGES_COMPLETED"`
	DeployedItem              json.RawMessage   `json:"deployed_item" is:"object"`
	Declaration               json.RawMessage   `json:"declaration" is:"object"`
	HealthcheckStatus         *string           `json:"healthcheck_status"`
	IsValidatedMinimumSchema  bool              `json:"is_validated_minimum_schema"`
	IsDeprecatedServiceSchema bool              `json:"is_deprecated_service_schema"`
	IsServicePrivate          bool              `json:"is_service_private"`
}

type serviceOfItem struct {
	ID          int    `json:"id"`
	Name        string `json:"name"`
	Owner       ref    `json:"owner"`
	State       string `json:"state" is:"one=IN_SERVICE|NO_NEW_SERVICE_ITEM|NO_MODIFY_EXISTING_SERVICE_ITEM|DECOMMISSIONED"`
	Healthcheck bool   `json:"healthcheck"`
}

type applicationOfItem struct {
	ID       int             `json:"id"`
	Name     string          `json:"name"`
	Metadata json.RawMessage `json:"metadata" is:"object"`
	Owner    int             `json:"owner"`
}

type historyEntry struct {
	ID            int       `json:"id"`
	State         string    `json:"state" is:"one=PENDING|APPROVED|REJECTED|ERRORED|COMPLETED|CLOSED"`
	Log           string    `json:"log"`
	Modified      time.Time `json:"modified"`
	Reason        string    `json:"reason" is:"one=state|log"`
	ChangedBy     *string   `json:"changed_by"`
	ChangedByTeam *string   `json:"changed_by_team"`
}

type deployedItem struct {
	ID               int             `json:"id"`
	URL              string          `json:"url" is:"url"`
	Version          int             `json:"version"`
	Data             json.RawMessage `json:"data" is:"object"`
	ServiceItem      string          `json:"service_item" is:"url"`
	ChangeInstance   string          `json:"change_instance" is:"url null"`
	ConsumerTeam     *team           `json:"consumer_team" is:"only=id|name"`
	ServiceOwnerTeam *team           `json:"service_owner_team" is:"only=id|name"`
	Created          time.Time       `json:"created"`
	Modified         time.Time       `json:"modified"`
}

// An error. The client reads only its detail.
type apiError struct {
	Detail string `json:"detail"`
}

// An update of a change instance. The client omits an empty log and a missing deployed item.
type goUpdate struct {
	State        string   `json:"state"`
	Log          string   `json:"log,omitempty"`
	DeployedItem document `json:"deployed_item,omitempty"`
}

// The body of a new or changed deployed item, with the URL of one of its two parents.
type deployedItemBody struct {
	Data           document `json:"data"`
	ServiceItem    string   `json:"service_item,omitempty"`
	ChangeInstance string   `json:"change_instance,omitempty"`
}

type document = map[string]any
