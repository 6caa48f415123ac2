# Kairos's central scheduler and the registrar: nomad job run -var fleet=HOST:7400 -var workers=30 dispatch.nomad.hcl
# It must come back to the same machine, where its journal is: name that machine, or give the folder a volume.
variable "hedge" {
  type    = string
  default = "/usr/local/bin/hedge"
}

variable "fleet" { type = string } # where the agents reach it, HOST:PORT

variable "workers" { type = number } # one a machine

variable "machine" { type = string } # the Nomad node that it runs on

variable "dir" {
  type    = string
  default = "/var/lib/hedge-dispatch"
}

variable "tls" { # such as ["--tls-cert=/etc/hedge/cert.pem", "--tls-key=/etc/hedge/key.pem", "--tls-ca=/etc/hedge/ca.pem"]
  type = list(string)
}

job "hedge-dispatch" {
  type        = "service"
  datacenters = ["*"]

  constraint {
    attribute = "${node.unique.name}"
    value     = var.machine
  }

  group "dispatch" {
    task "dispatch" {
      driver      = "raw_exec"
      kill_signal = "SIGTERM"
      config {
        command = var.hedge
        args = concat(["dispatch", "--fleet=${var.fleet}", "--system=kairos", "--workers=${var.workers}", "--slots=4",
        "--dir=${var.dir}"], var.tls)
      }
      resources {
        cpu    = 200
        memory = 256
      }
    }
  }
}
