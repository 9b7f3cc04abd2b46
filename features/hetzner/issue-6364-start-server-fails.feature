# https://github.com/kubernetes/autoscaler/pull/6364

@cluster-autoscaler @hetzner @issue-6364
Feature: A server that cannot be started is deleted

  The server is created, and its action start_server fails. It is off, is billed,
  and no Node will ever come of it.

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  @hetzner-6364-start-server-fails
  Scenario: start_server fails after create_server has succeeded
    Given every action "start_server" in the cloud fails
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then a server that is off is deleted within 1m
