# An agent on every machine: nomad job run -var fleet=HOST:7400 -var workers=30 agent.nomad.hcl
# Tasks are children of the agent: the task's resources here are those of all that the agent runs.
variable "hedge" {
  type    = string
  default = "/usr/local/bin/hedge"
}

variable "fleet" { type = string }

variable "workers" { type = number }

variable "dir" { # under it each agent has a folder
  type    = string
  default = "/var/lib/hedge-agent"
}

variable "tls" {
  type = list(string)
}

job "hedge-agent" {
  type        = "system"
  datacenters = ["*"]

  group "agent" {
    task "agent" {
      driver      = "raw_exec"
      kill_signal = "SIGTERM"
      config {
        command = var.hedge
        args = concat(["agent", "--fleet=${var.fleet}", "--system=kairos", "--workers=${var.workers}", "--slots=4",
        "--name=${node.unique.name}", "--dir=${var.dir}/${node.unique.name}"], var.tls)
      }
      resources {
        cpu    = 500
        memory = 256
      }
    }
  }
}
