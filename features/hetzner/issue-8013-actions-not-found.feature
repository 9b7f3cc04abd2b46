# https://github.com/kubernetes/autoscaler/issues/8013

@cluster-autoscaler @hetzner @issue-8013
Feature: An action that is not listed at once is looked for again

  The API is eventually consistent: the list of a new server's actions may come
  without them once. That is no reason to delete the server.

  Background:
    Given a cluster
    And a Hetzner Cloud project
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  @hetzner-8013-actions-not-found
  Scenario: The first list of actions is empty
    Given the first call "list actions" to the cloud gets an empty list
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then 5m from now, a server of a node group has been created since the start, and no server has been deleted
    And the pod "web" is Running within 1m
