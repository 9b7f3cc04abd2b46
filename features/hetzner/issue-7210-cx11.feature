# https://github.com/kubernetes/autoscaler/issues/7210

@cluster-autoscaler @hetzner @issue-7210
Feature: A server type that is not used can be withdrawn

  On 2024-09-06 Hetzner withdrew the server type cx11. Node groups of other types
  must go on.

  Background:
    Given a cluster
    And a Hetzner Cloud project
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  @hetzner-7210-cx11
  Scenario: A project without the server type cx11
    Given Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then at least 1 server of the group "pool1" is created within 5m
    And the pod "web" is Running within 5m
