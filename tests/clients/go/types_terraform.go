package main

// Types of the Terraform provider: names and JSON types of its fields. It reads times as text.

type terraformChangeInstance struct {
	ID               int64                `json:"id"`
	URL              string               `json:"url" is:"url"`
	State            string               `json:"state"`
	Created          string               `json:"created"`
	Modified         string               `json:"modified"`
	Owner            terraformRef         `json:"owner"`
	ConsumerTeam     terraformTeam        `json:"consumer_team"`
	ServiceOwnerTeam any                  `json:"service_owner_team"`
	Submission       terraformSubmission  `json:"submission"`
	ServiceItem      terraformServiceItem `json:"service_item" is:"only=id|url|name|runtime_state|declaration|deployed_item"`
}

type terraformServiceItem struct {
	ID               int64                `json:"id"`
	URL              string               `json:"url" is:"url"`
	Name             string               `json:"name"`
	Created          string               `json:"created"`
	Modified         string               `json:"modified"`
	RuntimeState     string               `json:"runtime_state"`
	ServiceName      string               `json:"service_name" is:"absent"`
	ChangeState      string               `json:"change_state"`
	Service          terraformService     `json:"service"`
	Application      terraformApplication `json:"application"`
	DeployedItem     document             `json:"deployed_item"`
	ConsumerTeam     terraformTeam        `json:"consumer_team"`
	ServiceOwnerTeam terraformRef         `json:"service_owner_team"`
	Declaration      document             `json:"declaration"`
	Related          any                  `json:"related"`
	Healthcheck      *int64               `json:"healthcheck_status"`
}

type terraformRef struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type terraformTeam struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Metadata any    `json:"metadata"`
}

type terraformSubmission struct {
	ID       int64  `json:"id"`
	CommitID string `json:"commit_id" is:"null"`
}

type terraformService struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	Owner       terraformRef `json:"owner"`
	HealthCheck bool         `json:"healthcheck"`
}

type terraformApplication struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Metadata any    `json:"metadata"`
	Owner    int64  `json:"owner"`
}

// An update of a change instance. The provider always sends all three fields.
type terraformUpdate struct {
	State        string   `json:"state"`
	Description  string   `json:"description"`
	DeployedItem document `json:"deployed_item"`
}

func terraformMove(state string, deployed document) terraformUpdate {
	return terraformUpdate{state, "Updated via terraform", deployed}
}
