# https://github.com/kubernetes/autoscaler/issues/369
# https://github.com/kubernetes/autoscaler/pull/7493

@cluster-autoscaler @hetzner @issue-7493
Feature: A server without a node is replaced, also in the smallest group

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 1 to 3 servers of type "cx22" in "fsn1"
    And the first new simulated node never registers

  @hetzner-7493-kept
  Scenario: The only server of a group of one never becomes a node
    Given Cluster Autoscaler with the flags:
      | --enforce-node-group-min-size | true |
      | --max-node-provision-time     | 3m   |
    When the scenario waits for 1m
    Then at least 2 servers of the group "pool1" are created within 12m

  @hetzner-7493-forced-in-vain
  Scenario: The same where such servers are deleted by force
    Given Cluster Autoscaler with the flags:
      | --enforce-node-group-min-size     | true |
      | --max-node-provision-time         | 3m   |
      | --force-delete-unregistered-nodes | true |
    When the scenario waits for 1m
    Then at least 2 servers of the group "pool1" are created within 12m
