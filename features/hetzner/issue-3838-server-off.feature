# https://github.com/kubernetes/autoscaler/pull/3838

@cluster-autoscaler @hetzner @issue-3838
Feature: A server that goes off before its Node registers is not waited for

  The server's host crashes. The API says that it is off. Pods must not wait for it
  as long as for one that is starting.

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  @hetzner-3838-server-off
  Scenario: The first server goes off ten seconds after it runs
    Given the first server of the group "pool1" turns off 10s after it is running
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then at least 2 servers of the group "pool1" are created within 10m
    And the pod "web" is Running within 5m
