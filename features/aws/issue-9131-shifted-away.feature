# Fixed by https://github.com/aws/karpenter-provider-aws/pull/9131, first in v1.13.0.

@aws @issue-9131
Feature: Nothing is launched in a zone for as long as it is shifted away from

  @aws-9131-shifted-away
  Scenario: A zonal shift is started and cancelled
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And the target has the environment variables:
      | ENABLE_ZONAL_SHIFT | true |
    And Karpenter with a NodePool "default"
    When a zonal shift away from "us-west-2a" is started for 12h
    And the scenario waits for 1m
    And a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And this holds:
      """
      never: {source: cloud, verb: created, resource: instances, detail: {location: us-west-2a}}
      ever: true
      """
    When the zonal shift away from "us-west-2a" is cancelled
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: back}
      spec:
        nodeSelector: {topology.kubernetes.io/zone: us-west-2a}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    Then the pod "back" is Running within 5m
