module github.com/hedgesched/hedge/adapters/nomad

go 1.26

require (
	github.com/hashicorp/go-version v1.6.0
	github.com/hashicorp/nomad/api v0.0.0-20230721134942-515895c7690c
	github.com/hedgesched/hedge v0.1.0
	github.com/hedgesched/hedge/adapters/testservers v0.1.0
	github.com/stretchr/testify v1.11.1
	golang.org/x/sync v0.20.0
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/gorilla/websocket v1.5.0 // indirect
	github.com/hashicorp/cronexpr v1.1.2 // indirect
	github.com/hashicorp/errwrap v1.0.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
	github.com/hashicorp/go-rootcerts v1.0.2 // indirect
	github.com/mitchellh/go-homedir v1.1.0 // indirect
	github.com/mitchellh/mapstructure v1.5.0 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	golang.org/x/exp v0.0.0-20230108222341-4b8118a2686a // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
