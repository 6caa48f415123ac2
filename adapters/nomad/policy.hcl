# What hedge needs in a cluster with access control, and no more:
#   nomad acl policy apply hedge policy.hcl
#   nomad acl token create -name hedge -policy hedge
# To confine hedge to some namespaces, give submit-job and the variables for those alone; read-job everywhere is how it knows what others hold.
namespace "*" {
  capabilities = ["list-jobs", "read-job", "submit-job"]

  variables {
    path "hedge/jobs/*" {
      capabilities = ["list", "read", "write", "destroy"]
    }
  }
}

namespace "default" {
  capabilities = ["list-jobs", "read-job", "submit-job"]

  variables {
    path "hedge/jobs/*" {
      capabilities = ["list", "read", "write", "destroy"]
    }
    path "hedge/lease" {
      capabilities = ["read", "write"]
    }
  }
}

node {
  policy = "read"
}

# How hedge knows whether memory_max counts; without it, hedge takes it that it does not.
operator {
  policy = "read"
}
