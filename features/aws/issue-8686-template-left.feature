# Open, see also https://github.com/kubernetes-sigs/karpenter/issues/2579. The account of that report had no launch templates left after
# an outage of AWS.

@aws @issue-8686
Feature: Launch templates that are not needed any more are deleted, once AWS lets that happen

  @aws-8686-template-left
  Scenario: AWS fails while a launch template is to be deleted
    Given a cluster
    And a Ready Node "system" for system pods only
    And an AWS region
    And each of the first 3 calls "DeleteLaunchTemplate" to the cloud is refused with "InternalError"
    And Karpenter with a NodePool "default"
    When the scenario waits for 40m
    Then this holds:
      """
      statement: every launch template is deleted within half an hour
      since: {source: cloud, verb: CreateLaunchTemplate, code: 200}
      happens: {source: cloud, verb: DeleteLaunchTemplate, code: 200}
      within: 30m
      forEach: [detail.template]
      """
