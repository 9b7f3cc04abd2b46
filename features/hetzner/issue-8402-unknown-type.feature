# https://github.com/kubernetes/autoscaler/pull/8402

@cluster-autoscaler @hetzner @issue-8402
Feature: A node group of a server type that is gone does not stop the others

  Of two node groups one has a server type that Hetzner has withdrawn. What a node
  of it would look like cannot be determined. The other group goes on.

  Background:
    Given a cluster
    And a Hetzner Cloud project
    And a Ready Node "control-plane" on a server of the project
    And a node group "old" of 0 to 3 servers of type "cx11" in "fsn1"

  @hetzner-8402-pending-pod
  Scenario: A pod that fits on a server of the other group
    Given a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then at least 1 server of the group "pool1" is created within 5m
    And the pod "web" is Running within 5m

  @hetzner-8402-min-size
  Scenario: A minimum size of the other group that is to be enforced
    Given a node group "pool1" of 3 to 5 servers of type "cx22" in "fsn1"
    And Cluster Autoscaler with the flags:
      | --enforce-node-group-min-size | true |
    Then at least 3 servers of the group "pool1" are created within 5m
