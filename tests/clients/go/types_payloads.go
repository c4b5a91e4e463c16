package main

import (
	"encoding/json"
	"time"
)

// Objects without a type in either client, as in public payloads and in the vendor's documentation.

type submission struct {
	ID       int       `json:"id"`
	Created  time.Time `json:"created"`
	CommitID *string   `json:"commit_id"`
}

type submitted struct {
	submission
	ChangeInstances []changeInstance `json:"change_instances"`
}

type validity struct {
	IsValid  bool     `json:"is_valid"`
	Errors   document `json:"errors" is:"object"`
	Warnings []any    `json:"warnings" is:"absent"`
	Messages []any    `json:"messages" is:"absent"`
}

type service struct {
	ID    int    `json:"id"`
	URL   string `json:"url" is:"url"`
	Name  string `json:"name"`
	State string `json:"state" is:"one=IN_SERVICE|NO_NEW_SERVICE_ITEM|NO_MODIFY_EXISTING_SERVICE_ITEM|DECOMMISSIONED"`
	Owner ref    `json:"owner"`
	// Contains the JSON Schema and its version.
	Schema struct {
		Schema document `json:"schema" is:"object"`
	} `json:"schema"`
	Tags                  []string `json:"tags"`
	HasMD                 bool     `json:"has_md"`
	MinimumVersion        *int     `json:"minimum_version"`
	EnabledNotifications  bool     `json:"enabled_notifications"`
	AllowedTeams          []int    `json:"allowed_teams"`
	ApprovalRequired      bool     `json:"approval_required"`
	AllowManualApproval   bool     `json:"allow_manual_approval"`
	AllowManualCompletion bool     `json:"allow_manual_completion"`
}

type application struct {
	ID       int             `json:"id"`
	URL      string          `json:"url" is:"url"`
	Name     string          `json:"name"`
	Metadata json.RawMessage `json:"metadata" is:"object"`
	Owner    ref             `json:"owner"`
	Created  time.Time       `json:"created"`
	Modified time.Time       `json:"modified"`
}

type serviceConfig struct {
	ID      int             `json:"id"`
	Service int             `json:"service"`
	Version int             `json:"version"`
	Config  json.RawMessage `json:"config" is:"object"`
	Created time.Time       `json:"created"`
}

type webhook struct {
	ID                  int     `json:"id"`
	Name                string  `json:"name"`
	Description         string  `json:"description"`
	Service             int     `json:"service"`
	TargetURL           string  `json:"target_url"`
	Authorization       *string `json:"authorization"`
	ChangeInstanceState *string `json:"change_instance_state"`
	Active              bool    `json:"active"`
	Verify              bool    `json:"verify"`
	Timeout             int     `json:"timeout"`
	TrustEnv            bool    `json:"trust_env"`
	TriggerWaitTime     int     `json:"trigger_wait_time"`
	TriggerCoolingTime  int     `json:"trigger_cooling_time"`
}

type charge struct {
	ID          int        `json:"id"`
	Scope       string     `json:"scope"`
	TotalCharge float64    `json:"total_charge"`
	ChargeType  string     `json:"charge_type" is:"one=cost_per_change|monthly_cost"`
	Start       time.Time  `json:"start"`
	End         *time.Time `json:"end"`
	Processed   bool       `json:"processed"`
}

type message struct {
	ID          int        `json:"id"`
	Description string     `json:"description"`
	ExpiryDate  *time.Time `json:"expiry_date"`
	HasExpired  bool       `json:"has_expired"`
	Owner       ref        `json:"owner"`
	Scopes      []struct {
		Type  string `json:"type"`
		Scope ref    `json:"scope"`
	} `json:"scopes"`
}

type healthcheck struct {
	Service         int     `json:"service"`
	TargetURL       string  `json:"target_url"`
	ScheduleEnabled bool    `json:"schedule_enabled"`
	ScheduleCrontab *string `json:"schedule_crontab"`
}

type healthOfItem struct {
	Status string `json:"healthcheck_status" is:"one=HEALTHY|UNHEALTHY|UNKNOWN"`
}
