# No report for --max-nodes-total is known; for --cores-total, see https://github.com/kubernetes/autoscaler/issues/5624.

@cluster-autoscaler @hetzner @issue-5624
Feature: Minimum sizes are enforced within the limit of the cluster

  @hetzner-5624-min-size-over-total
  Scenario: Two groups with a minimum of two, in a cluster that may have three nodes
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 2 to 3 servers of type "cpx11" in "fsn1"
    And a node group "pool2" of 2 to 3 servers of type "cx32" in "fsn1"
    And Cluster Autoscaler with the flags:
      | --enforce-node-group-min-size | true |
      | --max-nodes-total             | 3    |
    When the scenario waits for 3m
    Then this holds within 1m:
      """
      count: {source: cloud, verb: created, resource: instances, detail: {group: {exists: true}}}
      atLeast: 1
      atMost: 3
      ever: true
      """
