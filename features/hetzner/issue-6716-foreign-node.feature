# https://github.com/kubernetes/autoscaler/issues/6716

@cluster-autoscaler @hetzner @issue-6716
Feature: A Node that is no server of the project is none of Cluster Autoscaler's business

  A Robot server, a server of another provider, or one that a user has deleted
  must not keep the node groups from growing.

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  @hetzner-6716-foreign-provider-id
  Scenario: A Robot server in the cluster
    Given a Ready Node "robot" with the provider ID "hrobot://1"
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then at least 1 server of the group "pool1" is created within 3m
    And the pod "web" is Running within 5m

  @hetzner-6716-server-gone
  Scenario: A server that another client has deleted, and whose Node stays
    Given the first server of the group "pool1" vanishes 5m after it is running
    And Cluster Autoscaler
    And a pod "web" that requests 1500m CPU is Running
    When "cloud" has recorded "deleted" of "instances"
    Then the target size of the group "pool1" becomes 0 within 75s
    When a pod "api" that requests 1500m CPU is created
    Then at least 1 server of the group "pool1" is created within 3m
