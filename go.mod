module github.com/hedgesched/hedge

go 1.26
