# Open. Karpenter heeds zonal shifts since https://github.com/aws/karpenter-provider-aws/pull/9042, first in v1.12.0.

@aws @issue-9042
Feature: A zonal shift holds for no longer than it lasts

  @aws-9042-shift-moved
  Scenario: A zonal shift is cancelled, and another one started at once
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And the target has the environment variables:
      | ENABLE_ZONAL_SHIFT | true |
    And Karpenter with a NodePool "default"
    When a zonal shift away from "us-west-2a" is started for 12h
    And the scenario waits for 1m
    And the zonal shift away from "us-west-2a" is cancelled
    And a zonal shift away from "us-west-2b" is started for 12h
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {topology.kubernetes.io/zone: us-west-2a}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    Then the pod "web" is Running within 10m
