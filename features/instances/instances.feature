# Karpenter's provider kwok makes Node and instance one, so that nothing can fail in its
# cloud. On a cloud of instances each has a life of its own.

@karpenter
Feature: Karpenter gets by with a cloud in which things fail

  Background:
    Given a cluster
    And a Ready node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And a cloud of instances

  Scenario: What is cheapest has run out
    Given the server type "c-4x-amd64-linux" cannot be had as spot capacity
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And no more than 1 NodeClaim is created within 1m
    And this holds:
      """
      sequence:
        - as: refused
          match: {source: cloud, verb: LaunchInstance, code: 412, detail: {capacity: spot, error: resource_unavailable}}
        - as: had
          match: {source: cloud, verb: LaunchInstance, code: 201, detail: {capacity: on-demand}}
      """

  Scenario: The answer to a launch is lost
    Given the first call "launch instances" to the cloud is done, and its answer lost
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And no more than 1 NodeClaim is created within 5m
    And this holds:
      """
      ever: true
      count: {source: cloud, verb: created, resource: instances}
      atMost: 1
      """

  Scenario: A machine vanishes
    Given the first server vanishes 1m after it runs
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    Then a pod of the Deployment "web" is Running within 5m
    When "cloud" has recorded "deleted" of "instances"
    Then "karpenter" has sent "delete" of "nodeclaims" within 10m
    And a pod of the Deployment "web" is Running within 10m
