# What stops Cluster Autoscaler when its cloud does not answer, in all releases; with
# https://github.com/kubernetes/autoscaler/issues/4133 in mind.

@cluster-autoscaler @hetzner @issue-4133
Feature: A cloud that does not answer is waited for, and no longer

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  @hetzner-4133-list-fails
  Scenario: Listing servers fails for ten minutes
    Given Cluster Autoscaler
    When the scenario waits for 2m
    And every call "list servers" to the cloud is answered with 503 and no JSON, for 10m
    And the scenario waits for 2m
    And a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m

  @hetzner-4133-list-hangs
  Scenario: One list of servers gets no answer
    Given Cluster Autoscaler
    When the scenario waits for 30s
    And the first call "list servers" to the cloud is not answered
    And the scenario waits for 3m
    And a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 15m
