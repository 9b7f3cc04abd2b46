# https://github.com/kubernetes/autoscaler/pull/3838

@cluster-autoscaler @hetzner @issue-3838
Feature: A server that is being deleted is not waited for

  The API lists a server until its deletion is done. Pods must not wait for it as for one that
  is starting.

  Background:
    Given a cluster
    And a Hetzner Cloud project
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  @hetzner-3838-server-deleting
  Scenario: A pod comes while the group's only server is being deleted, for eight minutes
    Given every action "delete_server" in the cloud takes 8m
    And Cluster Autoscaler with the flags:
      | --scale-down-delay-after-add | 1m |
      | --scale-down-unneeded-time   | 1m |
    And a pod "old" that requests 1 CPU is Running
    When "Pod/old" is deleted
    And a pod "web" that requests 1 CPU is created once this is recorded:
      """
      {source: cloud, verb: deleting, resource: instances, detail: {group: {exists: true}}}
      """
    Then the pod "web" is Running within 5m
