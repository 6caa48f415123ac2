module github.com/hedgesched/hedge/cmd/hedge

go 1.26

require github.com/hedgesched/hedge v0.0.0

replace github.com/hedgesched/hedge => ../..
