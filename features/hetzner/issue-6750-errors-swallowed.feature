# https://github.com/kubernetes/autoscaler/pull/6750

@cluster-autoscaler @hetzner @issue-6750
Feature: A node group whose servers cannot be had gives way to another

  Hetzner refuses to create servers of one type. Cluster Autoscaler must notice,
  back the node group off, and use the other one. It prefers the first: a "cpx11"
  has less to spare for the pod than a "cx32".

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cpx11" in "fsn1"
    And a node group "pool2" of 0 to 3 servers of type "cx32" in "fsn1"

  @hetzner-6750-resource-unavailable
  Scenario: The server type is out of stock
    Given every call "create servers" to the cloud for servers of the group "pool1" is refused with "resource_unavailable"
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then at least 1 server of the group "pool2" is created within 5m
    And the pod "web" is Running within 5m

  @hetzner-6750-limit-exceeded
  Scenario: The project's limit is reached
    Given every call "create servers" to the cloud for servers of the group "pool1" is refused with "resource_limit_exceeded"
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then at least 1 server of the group "pool2" is created within 5m
    And the pod "web" is Running within 5m

  @issue-8013
  @hetzner-8013-start-never-ends
  Scenario: A server never starts, with a timeout of one minute
    Given every action "start_server" in the cloud for servers of the group "pool1" never ends
    And the target has the environment variables:
      | HCLOUD_SERVER_CREATION_TIMEOUT | 1 |
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then a server of the group "pool1" that has not started is deleted within 2m
    And at least 1 server of the group "pool2" is created within 5m
    And the pod "web" is Running within 5m

  @hetzner-6750-target-size
  Scenario: The list of servers cannot be had while one is deleted
    Given Cluster Autoscaler
    And a pod "web" that requests 1500m CPU is Running
    And each of the first 7 calls "delete servers" to the cloud is refused with "conflict"
    When "Pod/web" is deleted
    And every call "list servers" to the cloud is refused with "server_error", for 3m once this is recorded:
      """
      {source: cloud, verb: "DELETE /servers/{id}", code: 409}
      """
    Then 5m from now, the group "pool1" has had a server since the start, and at no time a target size above 1
