# https://github.com/mysticaltech/terraform-hcloud-kube-hetzner/issues/1476
# https://github.com/kubernetes/autoscaler/issues/6564

@cluster-autoscaler @hetzner @issue-1476 @issue-6564
Feature: A node group has its minimum size

  A node group is declared with a minimum size, and users expect that many servers.
  Cluster Autoscaler creates them only with --enforce-node-group-min-size.

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "k3s-control-plane" on a server of the project

  @hetzner-1476-min-size-ignored
  Scenario: A minimum of three, and nothing else said
    Given a node group "k3s-autoscaled-egress" of 3 to 5 servers of type "cax11" in "fsn1"
    And Cluster Autoscaler
    Then at least 3 servers of the group "k3s-autoscaled-egress" are created within 5m

  @hetzner-1476-min-size-enforced
  Scenario: A minimum of three that is to be enforced
    Given a node group "k3s-autoscaled-egress" of 3 to 5 servers of type "cax11" in "fsn1"
    And Cluster Autoscaler with the flags:
      | --enforce-node-group-min-size | true |
    Then at least 3 servers of the group "k3s-autoscaled-egress" are created within 5m
