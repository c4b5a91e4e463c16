// The objects as the public Go client types them: the standard decoder refuses a value of another type.
package main

import "time"

type document = map[string]any

type ref struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type team struct {
	ID       int64    `json:"id"`
	Name     string   `json:"name"`
	Metadata document `json:"metadata"`
}

type version struct {
	Version     int      `json:"version"`
	Declaration document `json:"declaration"`
}

type changeInstance struct {
	ID          int64     `json:"id"`
	URL         string    `json:"url"`
	State       string    `json:"state"`
	ChangeType  string    `json:"change_type"`
	Log         string    `json:"log"`
	Created     time.Time `json:"created"`
	Modified    time.Time `json:"modified"`
	Owner       ref       `json:"owner"`
	ServiceItem struct {
		ID           int64    `json:"id"`
		Name         string   `json:"name"`
		RuntimeState string   `json:"runtime_state"`
		Declaration  document `json:"declaration"`
		DeployedItem document `json:"deployed_item"`
	} `json:"service_item"`
	Submission struct {
		ID       int64  `json:"id"`
		CommitID string `json:"commit_id"`
	} `json:"submission"`
	NewDeclaration   *version `json:"new_declaration"`
	OldDeclaration   *version `json:"old_declaration"`
	ServiceOwnerTeam team     `json:"service_owner_team"`
	ConsumerTeam     team     `json:"consumer_team"`
	Service          struct {
		ID                    int64  `json:"id"`
		Name                  string `json:"name"`
		AllowManualApproval   bool   `json:"allow_manual_approval"`
		AllowManualCompletion bool   `json:"allow_manual_completion"`
	} `json:"service"`
	Application team `json:"application"`
	IsDependant bool `json:"is_dependant"`
}

type serviceItem struct {
	ID           int64     `json:"id"`
	URL          string    `json:"url"`
	Name         string    `json:"name"`
	Created      time.Time `json:"created"`
	Modified     time.Time `json:"modified"`
	RuntimeState string    `json:"runtime_state"`
	ChangeState  string    `json:"change_state"`
	Service      struct {
		ID          int64  `json:"id"`
		Name        string `json:"name"`
		Owner       ref    `json:"owner"`
		State       string `json:"state"`
		Healthcheck bool   `json:"healthcheck"`
	} `json:"service"`
	Application struct {
		ID       int64    `json:"id"`
		Name     string   `json:"name"`
		Metadata document `json:"metadata"`
		Owner    int64    `json:"owner"`
	} `json:"application"`
	ServiceOwnerTeam ref  `json:"service_owner_team"`
	ConsumerTeam     team `json:"consumer_team"`
	DeployedItem     struct {
		Data    document `json:"data"`
		Version int      `json:"version"`
	} `json:"deployed_item"`
	Declaration                document `json:"declaration"`
	IsValidatedMinimumSchema   bool     `json:"is_validated_minimum_schema"`
	IsDeprecatedServiceSchema  bool     `json:"is_deprecated_service_schema"`
	IsServicePrivate           bool     `json:"is_service_private"`
	HealthcheckStatus          *string  `json:"healthcheck_status"`
}

type deployedItem struct {
	ID               int64     `json:"id"`
	URL              string    `json:"url"`
	Version          int       `json:"version"`
	Data             document  `json:"data"`
	ServiceItem      string    `json:"service_item"`
	ChangeInstance   *string   `json:"change_instance"`
	ConsumerTeam     ref       `json:"consumer_team"`
	ServiceOwnerTeam ref       `json:"service_owner_team"`
	Created          time.Time `json:"created"`
	Modified         time.Time `json:"modified"`
}

type historyEntry struct {
	ID            int64     `json:"id"`
	State         string    `json:"state"`
	Log           string    `json:"log"`
	Modified      time.Time `json:"modified"`
	Reason        string    `json:"reason"`
	ChangedBy     string    `json:"changed_by"`
	ChangedByTeam string    `json:"changed_by_team"`
}

type service struct {
	ID     int64  `json:"id"`
	URL    string `json:"url"`
	Name   string `json:"name"`
	State  string `json:"state"`
	Owner  ref    `json:"owner"`
	Schema struct {
		Schema document `json:"schema"`
	} `json:"schema"`
	Tags                  []string `json:"tags"`
	HasMD                 bool     `json:"has_md"`
	MinimumVersion        *int     `json:"minimum_version"`
	EnabledNotifications  bool     `json:"enabled_notifications"`
	ApprovalRequired      bool     `json:"approval_required"`
	AllowManualApproval   bool     `json:"allow_manual_approval"`
	AllowManualCompletion bool     `json:"allow_manual_completion"`
}

type application struct {
	ID       int64     `json:"id"`
	URL      string    `json:"url"`
	Name     string    `json:"name"`
	Metadata document  `json:"metadata"`
	Owner    ref       `json:"owner"`
	Created  time.Time `json:"created"`
	Modified time.Time `json:"modified"`
}

type submission struct {
	ID       int64     `json:"id"`
	Created  time.Time `json:"created"`
	CommitID string    `json:"commit_id"`
}

type submitted struct {
	submission
	ChangeInstances []changeInstance `json:"change_instances"`
}

type validity struct {
	IsValid  bool             `json:"is_valid"`
	Errors   document         `json:"errors"`
	Warnings []document       `json:"warnings"`
	Messages []document       `json:"messages"`
}

type config struct {
	ID      int64     `json:"id"`
	Service int64     `json:"service"`
	Version int       `json:"version"`
	Config  document  `json:"config"`
	Created time.Time `json:"created"`
}

type webhook struct {
	ID                  int64   `json:"id"`
	Name                string  `json:"name"`
	Description         string  `json:"description"`
	TargetURL           string  `json:"target_url"`
	Authorization       string  `json:"authorization"`
	ChangeInstanceState *string `json:"change_instance_state"`
	Active              bool    `json:"active"`
	Verify              bool    `json:"verify"`
	Timeout             int     `json:"timeout"`
	TrustEnv            bool    `json:"trust_env"`
	TriggerWaitTime     int     `json:"trigger_wait_time"`
	TriggerCoolingTime  int     `json:"trigger_cooling_time"`
}

type message struct {
	ID          int64  `json:"id"`
	Description string `json:"description"`
	ExpiryDate  *string `json:"expiry_date"`
	HasExpired  bool   `json:"has_expired"`
	Owner       ref    `json:"owner"`
	Scopes      []struct {
		Type  string `json:"type"`
		Scope ref    `json:"scope"`
	} `json:"scopes"`
}

// One page of a list.
type page[T any] struct {
	Count    *int64  `json:"count"`
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	Results  []T     `json:"results"`
}
