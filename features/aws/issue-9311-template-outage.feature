# A control of https://github.com/aws/karpenter-provider-aws/issues/9311, for as long as a release recovers.

@aws @issue-9311
Feature: When launch templates can be had again, so can machines

  @aws-9311-template-outage
  Scenario: Seven in ten calls for launch templates fail for an hour
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And these faults:
      """
      faults:
        - name: errors
          at: 1m
          for: 30m
          probability: 0.7
          match: {operation: "*LaunchTemplate*"}
          refuse: {code: InternalError}
        - name: throttled
          at: 31m
          for: 30m
          probability: 0.7
          match: {operation: "*LaunchTemplate*"}
          rateLimit: {}
      """
    And Karpenter with a NodePool "default"
    When the scenario waits for 2m
    And a Deployment "web" of 20 pods that request 1 CPU is created
    Then every pod is Running within 1h10m
